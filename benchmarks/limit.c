/* The single-core limit: the transitions of jaxlab's bare navigation, one environment after another.
 *
 * usage: limit BATCH LENGTH SEED < mazes
 * Standard input: int32 count, int32 rows, int32 cols, then for each maze rows*cols wall bytes,
 * int32 start, int32 goal, int32 shortest. Prints seconds and the sums, so that nothing is skipped.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t next_random(uint64_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void read_exactly(void *to, size_t size) {
    if (fread(to, 1, size, stdin) != size) {
        fprintf(stderr, "limit: standard input ended early\n");
        exit(1);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: limit BATCH LENGTH SEED < mazes\n");
        return 2;
    }
    const int batch = atoi(argv[1]), length = atoi(argv[2]);
    uint64_t random = 88172645463325252ULL + (uint64_t)atoll(argv[3]);
    int32_t head[3];
    read_exactly(head, sizeof head);
    const int count = head[0], rows = head[1], cols = head[2], cells = rows * cols;
    uint8_t *walls = malloc((size_t)count * cells);
    int32_t *facts = malloc(sizeof(int32_t) * 3 * count);
    for (int i = 0; i < count; i++) {
        read_exactly(walls + (size_t)i * cells, cells);
        read_exactly(facts + 3 * i, sizeof(int32_t) * 3);
    }
    int32_t *maze = malloc(sizeof(int32_t) * batch), *cell = malloc(sizeof(int32_t) * batch), *t = malloc(sizeof(int32_t) * batch);
    for (int i = 0; i < batch; i++) {
        maze[i] = (int32_t)(next_random(&random) % count);
        cell[i] = facts[3 * maze[i]];
        t[i] = 0;
    }
    const int32_t offset[4] = {cols, 1, -cols, -1};
    const float u = 0.1f / cells;
    const int32_t limit = 40 * cells;
    double reward = 0;
    int64_t terminated = 0, truncated = 0;
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int step = 0; step < length; step++) {
        uint64_t bits = 0;
        float paid = 0;
        for (int i = 0; i < batch; i++) {
            if (i % 32 == 0) bits = next_random(&random);
            const int action = bits & 3;
            bits >>= 2;
            const int32_t *fact = facts + 3 * maze[i];
            const int wall = walls[(size_t)maze[i] * cells + cell[i]] >> action & 1;
            const int32_t to = wall ? cell[i] : cell[i] + offset[action];
            const int32_t now = t[i] + 1;
            const int reached = to == fact[1], late = !reached & (now >= limit);
            paid += reached ? 1 + u * (fact[2] - 1) : -u;
            terminated += reached;
            truncated += late;
            cell[i] = reached | late ? fact[0] : to;
            t[i] = reached | late ? 0 : now;
        }
        reward += paid;
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    int64_t sum = 0;
    for (int i = 0; i < batch; i++) sum += cell[i] + t[i];
    printf("%.9f %.3f %lld %lld %lld\n", (ended.tv_sec - began.tv_sec) + 1e-9 * (ended.tv_nsec - began.tv_nsec), reward,
           (long long)terminated, (long long)truncated, (long long)sum);
    return 0;
}

"""Marks of tests that cannot run under one of the flags of `scripts/numerics.sh`, for reasons outside of jaxlab/."""

import jax
import pytest

STRICT = jax.config.jax_numpy_dtype_promotion == "strict"

trains_with_adam = pytest.mark.skipif(STRICT, reason="optax's Adam has float ** count: not under strict promotion")
logs_with_gymnax = pytest.mark.skipif(STRICT, reason="gymnax's LogWrapper has 1 - done: not under strict promotion")
draws_dropout = pytest.mark.skipif(jax.config.jax_enable_x64, reason="flax draws dropout in 64 bits then: other losses")

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { http2Defaults } from '@portico/http/server'
import { http1Options, http2Options } from './options.ts'

test('without a policy the limits are those of the docs', () => {
  assert.deepEqual(http1Options(undefined), { maxHeaders: 100, idleTimeoutMs: 600_000 })
  assert.deepEqual(http2Options(undefined), { ...http2Defaults })
})

test('a policy replaces the defaults that it names, and nothing else changes', () => {
  const config = { http1MaxHeaders: 7, http1IdleTimeout: 8, http2FrameSize: 20_000, http2MaxHeaderSize: 20_001 }
  assert.deepEqual(http1Options(config), { maxHeaders: 7, idleTimeoutMs: 8 })
  assert.deepEqual(http2Options(config), { ...http2Defaults, frameSize: 20_000, maxHeaderSize: 20_001 })
})

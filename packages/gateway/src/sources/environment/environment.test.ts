import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../file.ts'
import { printProblem } from '../print-problems.ts'

function load(env: Record<string, string>, text = '{}') {
  return loadConfig(text, { file: 'gateway.yaml', dir: '/', env })
}

function processOf(env: Record<string, string>, text = '{}') {
  const result = load(env, text)
  assert.ok(result.ok)
  return result.process
}

test('variables win over the file', () => {
  const config = processOf(
    {
      ADMIN_ADDR: '127.0.0.1:1',
      STATS_ADDR: 'off',
      READINESS_ADDR: '[::]:3',
      WORKER_THREADS: '4',
      CONNECTION_MIN_TERMINATION_DEADLINE: '1s',
      CONNECTION_TERMINATION_DEADLINE: '2s',
      DNS_LOOKUP_FAMILY: 'v4only',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'JSON',
      IPV6_ENABLED: 'false',
    },
    'config: { adminAddr: "localhost:9", workers: 2, logging: { level: warn } }',
  )
  assert.deepEqual(config, {
    workers: 4,
    adminAddr: '127.0.0.1:1',
    statsAddr: 'off',
    readinessAddr: '[::]:3',
    enableIpv6: false,
    connectionMinTerminationDeadline: 1_000,
    connectionTerminationDeadline: 2_000,
    logging: { level: 'debug', format: 'json' },
    dns: { lookupFamily: 'V4Only' },
    ui: { edit: false },
    session: {},
    backend: { connectTimeout: 10_000, poolIdleTimeout: 90_000 },
  })
})

test('the grace period of the platform moves only the default deadline', () => {
  const deadline = (env: Record<string, string>, text = '{}') => processOf(env, text).connectionTerminationDeadline
  assert.equal(deadline({}), 5_000)
  assert.equal(deadline({ TERMINATION_GRACE_PERIOD_SECONDS: '30' }), 25_000)
  assert.equal(deadline({ TERMINATION_GRACE_PERIOD_SECONDS: '10' }), 9_000)
  assert.equal(deadline({ TERMINATION_GRACE_PERIOD_SECONDS: '1' }), 1_000)
  assert.equal(deadline({ TERMINATION_GRACE_PERIOD_SECONDS: '30', CONNECTION_TERMINATION_DEADLINE: '2s' }), 2_000)
  assert.equal(
    deadline({ TERMINATION_GRACE_PERIOD_SECONDS: '30' }, 'config: { connectionTerminationDeadline: 7s }'),
    7_000,
  )
})

test('workers may be a share of the cores', () => {
  const workers = processOf({ WORKER_THREADS: '100%' }).workers
  assert.ok(typeof workers === 'number' && workers >= 1)
  assert.equal(processOf({ WORKER_THREADS: '1%' }).workers, 1)
  assert.equal(processOf({ WORKER_THREADS: 'auto' }).workers, 'auto')
})

test('empty variables count as unset', () => {
  assert.equal(processOf({ ADMIN_ADDR: '', WORKER_THREADS: '' }).adminAddr, 'localhost:15000')
})

test('bad values are problems that name the variable', () => {
  const result = load({
    ADMIN_ADDR: 'nowhere',
    WORKER_THREADS: '0',
    LOG_FORMAT: 'xml',
    IPV6_ENABLED: 'maybe',
    TERMINATION_GRACE_PERIOD_SECONDS: 'x',
  })
  assert.ok(!result.ok)
  assert.deepEqual(
    result.problems.map((problem) => printProblem(problem).split('\n')[0]),
    [
      'environment variable WORKER_THREADS: found "0", expected `auto` or an integer from 1 to 256',
      'environment variable ADMIN_ADDR: found "nowhere", expected `ip:port`, `[ipv6]:port`, `localhost:port`, `unix:/path` or `off`',
      'environment variable IPV6_ENABLED: found "maybe", expected `true` or `false`',
      'environment variable LOG_FORMAT: found "xml", expected one of `text` or `json`',
      'environment variable TERMINATION_GRACE_PERIOD_SECONDS: found "x", expected a whole number of seconds',
    ],
  )
})

import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Exchange } from '@portico/http'
import { ShapeKeepalive, STREAM } from './shape-keepalive.ts'

const plain = { version: 'HTTP/1.1', connection: { scheme: 'http' }, bytesIn: 0, bytesOut: 100 } as Exchange
const http2 = { ...plain, version: 'HTTP/2' } as Exchange
const large = { ...plain, bytesOut: 1_000_000 } as Exchange

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
setFlagsFromString('--no-expose-gc')

/** Which of the runs outlive a collection. */
async function outlive(made: ReadonlyMap<string, WeakRef<object>>): Promise<string[]> {
  await setImmediate()
  collect()
  return [...made].filter(([, run]) => run.deref() !== undefined).map(([name]) => name)
}

test('the last request of each kind stays, until there is another config', async () => {
  const keepalive = new ShapeKeepalive()
  const made = new Map<string, WeakRef<object>>()
  const keep = (name: string, exchange: Exchange, backend: string): void => {
    const run = { name }
    made.set(name, new WeakRef(run))
    keepalive.keep(run, exchange, backend)
  }
  keep('first', plain, 'static')
  keep('second', plain, 'static')
  keep('chat', plain, 'ai')
  keep('over HTTP/2', http2, 'static')
  keep('large', large, 'dynamicForwardProxy')
  keep('long stream', large, STREAM)
  assert.deepEqual(await outlive(made), ['second', 'chat', 'over HTTP/2', 'long stream'])
  keepalive.drop()
  assert.deepEqual(await outlive(made), [])
})

test('a socket has broken before any code is optimised for those that have not', () => {
  const { shortLived } = new ShapeKeepalive()
  assert.ok(shortLived.some((each) => each instanceof Socket && each.errored !== null))
})

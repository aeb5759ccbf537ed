import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { FrameClient } from '../../testing/frame-client.ts'
import { reply, startServer, until } from '../../testing/http2-server.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void

const GET: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', '/'],
]
const REQUESTS = 200

/** A minor collection of an older V8 takes weak references for strong ones. */
const minorCollectionsTell = async () => {
  await turn()
  const references = Array.from({ length: 10 }, () => new WeakRef({}))
  await turn()
  collect({ type: 'minor' })
  await turn()
  return references.some((reference) => reference.deref() === undefined)
}

test('an exchange is young garbage once its stream has closed', async (t) => {
  if (!(await minorCollectionsTell())) return t.skip(`Node ${process.version} does not tell young garbage apart`)
  const exchanges: WeakRef<object>[] = []
  const server = await startServer((exchange) => {
    exchanges.push(new WeakRef(exchange))
    server.exchanges.length = 0
    reply(exchange, 200)
  })
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  t.after(() => client.destroy())
  for (let i = 0; i < REQUESTS; i++) {
    client.headers(2 * i + 1, GET)
    assert.equal(await client.outcome(2 * i + 1), 'status 200')
    client.frames.length = 0
  }
  await until(() => server.connections[0]?.active === 0)
  // Nobody looks at them before the collection: who was looked at lives to the end of the turn.
  await turn()
  collect({ type: 'minor' })
  await turn()
  const alive = exchanges.filter((reference) => reference.deref() !== undefined).length
  // A collection amid the requests may have met some under way, and made them old.
  assert.ok(alive < REQUESTS / 4, `${alive} of ${REQUESTS} live on`)
})

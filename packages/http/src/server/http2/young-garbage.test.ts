import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FrameClient } from '../../testing/frame-client.ts'
import { collect, isGone, minorCollectionsTell } from '../../testing/collections-of-garbage.ts'
import { reply, startServer, until } from '../../testing/http2-server.ts'

const GET: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'a'],
  [':path', '/'],
]
const ROUNDS = 50
const TOGETHER = 8

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
  for (let round = 0; round < ROUNDS; round++) {
    // After a full collection, the connection and its tables are in old memory.
    if (round === 2) await collect('major')
    const ids = Array.from({ length: TOGETHER }, (_each, i) => 2 * (round * TOGETHER + i) + 1)
    for (const id of ids) client.headers(id, GET)
    for (const id of ids) assert.equal(await client.outcome(id), 'status 200')
    client.frames.length = 0
  }
  await until(() => server.connections[0]?.active === 0)
  await collect('minor')
  const alive = exchanges.filter((reference) => !isGone(reference)).length
  // A collection amid the requests may have met some under way, and made them old.
  assert.ok(alive < exchanges.length / 4, `${alive} of ${exchanges.length} live on`)
})

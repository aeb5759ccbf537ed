import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { emptySource } from '../../body/body.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { Deadlines } from '../../runtime/deadlines.ts'
import { collect, isGone, minorCollectionsTell } from '../../testing/collections-of-garbage.ts'
import { collector, reply, startServer, until } from '../../testing/http2-server.ts'
import type { UpstreamRequest } from '../upstream-types.ts'
import { Http2Connection } from './http2-connection.ts'

const ROUNDS = 50
const TOGETHER = 8

test('a call is young garbage once its stream has closed', async (t) => {
  if (!(await minorCollectionsTell())) return t.skip(`Node ${process.version} does not tell young garbage apart`)
  const server = await startServer((exchange) => reply(exchange, 200))
  t.after(() => server.close())
  const socket = connect({ port: server.port, host: '127.0.0.1' })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const deadlines = new Deadlines()
  t.after(() => deadlines.close())
  const connection = new Http2Connection(socket, { idle() {}, closed() {}, fellSilent() {} }, deadlines)
  const requests: WeakRef<object>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // After a full collection, the connection and its tables are in old memory.
    if (round === 2) await collect('major')
    await Promise.all(Array.from({ length: TOGETHER }, () => send(connection, requests)))
    server.exchanges.length = 0
  }
  await until(() => connection.active === 0)
  await collect('minor')
  const alive = requests.filter((reference) => !isGone(reference)).length
  // A collection amid the requests may have met some under way, and made them old.
  assert.ok(alive < requests.length / 4, `${alive} of ${requests.length} live on`)
})

function send(connection: Http2Connection, requests: WeakRef<object>[]): Promise<void> {
  const request: UpstreamRequest = {
    ...{ method: 'GET', target: '/', authority: 'a.test', headers: new HeaderBlock() },
    ...{ body: emptySource, upgrade: '', teTrailers: false },
  }
  requests.push(new WeakRef(request))
  return new Promise((resolve, reject) => {
    connection.send(request, {
      informed() {},
      responded: ({ body }) => body.pipe(collector(() => resolve(), reject)),
      upgraded: () => reject(new Error('upgraded')),
      failed: reject,
    })
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { begin, post } from '../../packages/gateway/src/testing/mcp/mcp-post.ts'
import type { JsonObject } from '../../packages/http/src/json/json.ts'
import { useMcpGateway } from './gateway.ts'
import { programTarget } from './stdio-targets.ts'

const SECRET = 'demo://resource/static/document/architecture.md'
const FOLDER = 'demo://resource/static/document/'

/** A public server, unchanged: it normalizes URIs before it looks them up. */
test('no spelling of a denied resource reaches server-everything', async (t) => {
  const everything = programTarget('everything', 'server-everything/dist/index.js')
  const rules = (...list: unknown[]) => ({ mcp: { authorization: { rules: list } } })
  const mcp = { targets: [everything] }
  const gateway = await useMcpGateway(t, {
    denied: { mcp, policies: rules({ deny: `mcp.resource.name == "${SECRET}"` }) },
    allowed: { mcp, policies: rules('mcp.resource.name.startsWith("demo://resource/dynamic/")') },
    free: { mcp },
  })
  const reader = async (place: string) => {
    const at = { port: () => Number(new URL(gateway.url(place)).port), path: `/${place}/mcp` }
    const session = await begin(at)
    return (uri: string) => post(at, session, 'resources/read', { uri })
  }
  const spellings = [
    SECRET,
    SECRET.replace('demo', 'DEMO'),
    ` ${SECRET}`,
    SECRET.replace('static', './static'),
    SECRET.replace('static', 'x/../static'),
    SECRET.replace('static', 'x/%2e%2e/static'),
    SECRET.replace('static', 'sta\ntic'),
    SECRET.replace('static', 'sta\ttic'),
  ]
  const free = await reader('free')
  // Without rules each of them is the document: that is what has to be held against.
  for (const uri of spellings) assertRead(await free(uri), uri)
  const denied = await reader('denied')
  for (const uri of spellings) assertDenied(await denied(uri), uri)
  assertRead(await denied(`${FOLDER}features.md`), 'another document')
  const allowed = await reader('allowed')
  for (const way of ['..', '%2e%2e', 'x/../..']) {
    assertDenied(await allowed(`demo://resource/dynamic/${way}/static/document/architecture.md`), way)
  }
  assertRead(await allowed('demo://resource/dynamic/text/1'), 'an allowed resource')
})

function assertRead(message: JsonObject, uri: string): void {
  assert.ok(
    'result' in message && JSON.stringify(message['result']).includes('"text":'),
    `${uri}: ${JSON.stringify(message)}`,
  )
}

function assertDenied(message: JsonObject, uri: string): void {
  assert.ok('error' in message && !('result' in message), `${uri}: ${JSON.stringify(message)}`)
}

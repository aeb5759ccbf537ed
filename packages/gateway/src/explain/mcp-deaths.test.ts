import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { stringify } from 'yaml'
import { loadConfig } from '../sources/file.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { McpCaller } from '../testing/mcp/mcp-caller.ts'
import { type TargetRequest, useTarget } from '../testing/mcp/mcp-target.ts'
import { httpConfig, until, useGateway } from '../testing/scene.ts'
import { explain } from './explain.ts'
import { isMcpFailure } from './mcp-failure.ts'

interface Death {
  readonly die: (request: TargetRequest) => void
  readonly code: string
  readonly says: RegExp
  /** The first remedy. */
  readonly passes: RegExp
}

const status = (code: number, headers: Record<string, string> = {}) => {
  return ({ response }: TargetRequest): void => void response.writeHead(code, headers).end('no')
}
const runs = /^weather stays up until it has answered; its own log says why/

/** The ways in which the target `weather` fails during a call of the tool `a`. */
const deaths: Record<string, Death> = {
  'resets the connection': {
    die: ({ response }) => void response.socket?.resetAndDestroy(),
    code: 'mcp_target_lost',
    says: /was lost before its answer to tools\/call a was complete: /,
    passes: runs,
  },
  'breaks off within its answer': {
    die({ response }) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' })
      response.write('{"jsonrpc"', () => void setImmediate(() => response.socket?.end()))
    },
    code: 'mcp_target_lost',
    says: /was lost before its answer to tools\/call a was complete: the answer broke off/,
    passes: runs,
  },
  'ends its stream without an answer': {
    die: (request) => request.events().end(),
    code: 'mcp_target_lost',
    says: /: it closed the stream without an answer$/,
    passes: runs,
  },
  'speaks no HTTP': {
    die: ({ response }) => void response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n'),
    code: 'mcp_target_bad_answer',
    says: /sent an invalid response to tools\/call a: malformed response head/,
    passes: /^weather answers with JSON-RPC 2\.0\.$/,
  },
  'sends what is no JSON': {
    die: (request) => request.json('{nope'),
    code: 'mcp_target_bad_answer',
    says: /sent an invalid response to tools\/call a: it sent an invalid message: Parse error/,
    passes: /^weather answers with JSON-RPC 2\.0\.$/,
  },
  'is silent': {
    die() {},
    code: 'mcp_target_silent',
    says: /did not answer tools\/call a in time$/,
    passes: /^weather answers faster, or sends progress\.$/,
  },
  'asks for credentials': {
    die: status(401, { 'www-authenticate': 'Bearer' }),
    code: 'mcp_target_denied',
    says: /refused tools\/call a: it answered HTTP 401$/,
    passes: /^the target weather has an `auth` policy with credentials that its server accepts\.$/,
  },
  'has no such path': {
    die: status(405),
    code: 'mcp_target_http_error',
    says: /refused tools\/call a: it answered HTTP 405$/,
    passes: /^the target weather names the path of its MCP endpoint\.$/,
  },
  'has had too many requests': {
    die: status(429, { 'retry-after': '7' }),
    code: 'mcp_target_http_error',
    says: /refused tools\/call a: it answered HTTP 429; retry after 7 s$/,
    passes: /^the limit of the server is free again\.$/,
  },
  redirects: {
    die: status(302, { location: 'http://127.0.0.1/' }),
    code: 'mcp_target_http_error',
    says: /refused tools\/call a: it answered HTTP 302$/,
    passes: /redirects are not followed\.$/,
  },
  'answers with the text of another failure': {
    die: (request) => request.error(-32000, 'target other: connect ECONNREFUSED 127.0.0.1:9'),
    code: 'mcp_error',
    says: /answered tools\/call a with error -32000: target other: connect ECONNREFUSED 127\.0\.0\.1:9$/,
    passes: /^weather answers tools\/call a without an error\.$/,
  },
  'has a fault': {
    die: status(500),
    code: 'mcp_target_http_error',
    says: /refused tools\/call a: it answered HTTP 500$/,
    passes: /^weather works again: its own log says why it failed\.$/,
  },
}

describe('a failed MCP call is explained by its target', () => {
  for (const [what, { die, ...expected }] of Object.entries(deaths)) {
    it(what, async (t) => {
      const target = await useTarget(t, (request) => {
        if (request.method !== 'tools/call') return false
        die(request)
        return true
      })
      const config = configFor([
        { name: 'weather', static: { host: '127.0.0.1', port: target.port } },
        { name: 'other', static: { host: '127.0.0.1', port: target.port } },
      ])
      const gateway = await useGateway(t, config)
      const session = await new McpCaller(gateway.port()).begin()
      await session.ask('tools/call', { name: 'weather_a', arguments: {} })
      await hold(() => gateway.recorded(), config, expected)
    })
  }

  it('refuses connections', async (t) => {
    const target = await useTarget(t)
    const config = configFor([{ name: 'weather', static: { host: '127.0.0.1', port: target.port } }])
    const gateway = await useGateway(t, config)
    const session = await new McpCaller(gateway.port()).begin()
    target.close()
    await session.ask('tools/call', { name: 'a', arguments: {} })
    await hold(() => gateway.recorded(), config, {
      code: 'mcp_target_unreachable',
      says: /^no connection to MCP server weather \(127\.0\.0\.1:\d+\) could be opened, so tools\/call a was not sent: /,
      passes: /^weather runs and accepts connections\.$/,
    })
  })

  for (const method of ['initialize', 'tools/list']) {
    it(`answers ${method}, which several targets serve, with the text of another failure`, async (t) => {
      const text = 'its process ended: ECONNREFUSED, timed out'
      const ill = await useTarget(t, (request) => {
        if (request.method !== method) return false
        request.error(-32000, text)
        return true
      })
      const well = await useTarget(t)
      const config = configFor([
        { name: 'other', static: { host: '127.0.0.1', port: well.port } },
        { name: 'weather', static: { host: '127.0.0.1', port: ill.port } },
      ])
      const gateway = await useGateway(t, config)
      const caller = new McpCaller(gateway.port())
      if (method === 'initialize') {
        const clientInfo = { name: 'a', version: '1' }
        await caller.ask(method, { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
      } else await (await caller.begin()).ask(method)
      await hold(() => gateway.recorded(), config, {
        code: 'mcp_error',
        says: new RegExp(`^MCP server weather .*answered ${method} with error -32000: ${text}$`),
        passes: new RegExp(`^weather answers ${method} without an error\\.$`),
      })
    })
  }

  it('is a program that ends', async (t) => {
    const args = [new URL('../testing/mcp/stdio-server.mjs', import.meta.url).pathname]
    const config = configFor([{ name: 'weather', stdio: { cmd: process.execPath, args } }])
    const gateway = await useGateway(t, config)
    const session = await new McpCaller(gateway.port()).begin()
    await session.ask('tools/call', { name: 'exit', arguments: {} })
    await hold(() => gateway.recorded(), config, {
      code: 'mcp_process_ended',
      says: /^the program of MCP server weather is gone, and tools\/call exit was not answered: /,
      passes: /^the program of weather keeps running; what it wrote to stderr is in the log/,
    })
  })

  it('is a program that cannot be started', async (t) => {
    const config = configFor([{ name: 'weather', stdio: { cmd: '/nonexistent/weather-server' } }])
    const gateway = await useGateway(t, config)
    const caller = new McpCaller(gateway.port())
    await caller.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    })
    await hold(() => gateway.recorded(), config, {
      code: 'mcp_process_not_started',
      says: /^the program of MCP server weather cannot be started: .*ENOENT/,
      passes: /^the command of weather is a program that can be run where the gateway runs/,
    })
  })
})

function configFor(targets: object[]): object {
  return httpConfig([{ policies: { timeouts: { request: '2s' } }, backends: [{ mcp: { targets } }] }])
}

async function hold(
  recorded: () => readonly RequestRecord[],
  config: object,
  { code, says, passes }: Omit<Death, 'die'>,
): Promise<void> {
  let record: RequestRecord | undefined
  await until(() => (record = recorded().find(({ mcp }) => isMcpFailure(mcp))) !== undefined)
  const loaded = loadConfig(stringify(config), { file: 'g.yaml', dir: '.', env: {} })
  assert.ok(record !== undefined && loaded.ok)
  const { ir, locate = () => null } = loaded
  const found = explain(record, { isKnown: true, isEarlier: false, live: 1, ir, locate })
  const told = JSON.stringify(found)
  assert.equal(found.code, code, told)
  assert.match(found.headline, says)
  assert.match(found.headline, /MCP server weather/)
  assert.match(found.wouldPass[0]?.text ?? '', passes, told)
  assert.ok(found.decidedBy?.place !== null, told)
  const values = new Map(found.values.map(({ name, value }) => [name, value]))
  assert.deepEqual([values.get('mcp.target'), typeof values.get('attempts')], ['weather', 'number'], told)
}

import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'
import { type Program, useConfigFile, useProgram } from '../../packages/gateway/src/testing/process.ts'

/** The program with two workers and a route for each backend; it goes away with the test. */
interface McpGateway {
  program: Program
  /** The URL of the backend with this name. */
  url(name: string): string
  /** Ends the program at once, as kill -9 does, and starts it again on the same port with the same config. */
  killAndRestart(): Promise<void>
}

interface McpGatewayOptions {
  /** The key that encrypts session ids; 64 hex digits. */
  sessionKey?: string
  env?: Record<string, string>
}

/** `backends` are entries of a route's `backends`, by the name that becomes the first part of their path. */
export async function useMcpGateway(
  t: TestContext,
  backends: Record<string, object>,
  options: McpGatewayOptions = {},
): Promise<McpGateway> {
  const routes = Object.entries(backends).map(([name, backend]) => ({
    name,
    matches: [{ path: { pathPrefix: `/${name}` } }],
    backends: [backend],
  }))
  // Known from the start, so that a second start has the same config.
  const port = await closedPort()
  const file = useConfigFile(t, {
    config: { workers: 2, logging: { level: 'warn,request=off' } },
    binds: [{ port, listeners: [{ routes }] }],
  })
  const start = () =>
    useProgram(t, {
      args: ['-f', file.file],
      env: {
        SESSION_KEY: options.sessionKey ?? SESSION_KEY,
        ...options.env,
      },
    })
  let program = await start()
  return {
    get program() {
      return program
    },
    url: (name) => `http://127.0.0.1:${port}/${name}/mcp`,
    async killAndRestart() {
      program.child.kill('SIGKILL')
      await program.ended
      program = await start()
    },
  }
}

/** An MCP backend in front of servers that speak Streamable HTTP at these ports. */
export function remoteTargets(ports: Record<string, number>, more: object = {}): object {
  const targets = Object.entries(ports).map(([name, port]) => ({ name, static: { host: '127.0.0.1', port } }))
  return { mcp: { targets, prefixMode: 'Never', ...more } }
}

const SESSION_KEY = createHash('sha256').update('key of these tests').digest('hex')

import type { TestContext } from 'node:test'
import type { TestGateway, TestGatewayOptions } from '../gateway.ts'
import { McpCaller } from './mcp-caller.ts'
import { httpConfig, useGateway } from '../scene.ts'

export interface McpSceneOptions {
  /** Fields of the backend. */
  backend?: object
  /** Policies of the route, including the block for its backends. */
  policies?: object
  frontend?: object
  gateway?: TestGatewayOptions
}

/** The config of a route `/mcp` to servers at these ports, by name. */
export function mcpConfig(
  targets: Readonly<Record<string, { port: number }>>,
  { backend = {}, policies, frontend }: McpSceneOptions = {},
) {
  const list = Object.entries(targets).map(([name, { port }]) => ({ name, static: { host: '127.0.0.1', port } }))
  const route = {
    name: 'tools',
    matches: [{ path: { pathPrefix: '/mcp' } }],
    backends: [{ mcp: { targets: list, ...backend } }],
  }
  return httpConfig([{ ...route, ...(policies && { policies }) }], { ...(frontend && { frontend }) })
}

/** A gateway in front of these servers, and a client. */
export async function useMcpScene(
  t: TestContext,
  targets: Readonly<Record<string, { port: number }>>,
  options: McpSceneOptions = {},
): Promise<{ gateway: TestGateway; caller: McpCaller }> {
  const gateway = await useGateway(t, mcpConfig(targets, options), options.gateway)
  return { gateway, caller: new McpCaller(gateway.port()) }
}

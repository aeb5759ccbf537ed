import assert from 'node:assert/strict'
import type { JsonObject } from '@portico/http/json'

/** An MCP client that knows nothing but one message at a time, each on a connection of its own. */

interface WithPort {
  port(): number
  /** `/mcp` when left out. */
  readonly path?: string
}

export function urlOf(gateway: WithPort): string {
  return `http://127.0.0.1:${gateway.port()}${gateway.path ?? '/mcp'}`
}

let lastId = 0

async function send(gateway: WithPort, session: string, message: JsonObject): Promise<Response> {
  return fetch(urlOf(gateway), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      // A connection of its own, so that any worker may get it.
      connection: 'close',
      ...(session !== '' && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
}

/** Sends an MCP message and returns the response, which may be JSON or server-sent events after notifications. */
export async function post(
  gateway: WithPort,
  session: string,
  method: string,
  params: JsonObject = {},
): Promise<JsonObject> {
  const id = ++lastId
  const response = await send(gateway, session, { id, method, params })
  const text = await response.text()
  const events = Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = '']) => JSON.parse(data) as JsonObject)
  return events.find((message) => message['id'] === id) ?? events[0] ?? (JSON.parse(text) as JsonObject)
}

/** The result of a request that must not fail. */
export async function call(
  gateway: WithPort,
  session: string,
  method: string,
  params: JsonObject = {},
): Promise<JsonObject> {
  const { result, error } = await post(gateway, session, method, params)
  assert.equal(error, undefined)
  return result as JsonObject
}

/** Gives the id of the session. */
export async function begin(gateway: WithPort): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const response = await send(gateway, '', { id: ++lastId, method: 'initialize', params })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  const session = response.headers.get('mcp-session-id') ?? ''
  await (await send(gateway, session, { method: 'notifications/initialized' })).text()
  return session
}

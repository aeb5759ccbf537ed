import { CLIENT_CAPABILITIES_META_KEY, type ClientCapabilities, type ServerContext } from '@modelcontextprotocol/server'

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** The capabilities that the client declares in this request; empty in revisions with sessions. */
export function clientCapabilities(ctx: ServerContext): ClientCapabilities {
  const envelope: Record<string, unknown> = { ...ctx.mcpReq.envelope }
  const told = envelope[CLIENT_CAPABILITIES_META_KEY]
  return typeof told === 'object' && told !== null ? told : {}
}

export function speaksTasks(ctx: ServerContext): boolean {
  return clientCapabilities(ctx).extensions?.[TASKS_EXTENSION] !== undefined
}

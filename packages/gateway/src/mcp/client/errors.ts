import type { Json } from '../../wire/json.ts'
import { makeMessage, type RpcId, type RpcMessage } from '../message.ts'

/** An error that the gateway itself has to say. */
export function rpcError(id: RpcId | null, code: number, message: string, data?: Json): RpcMessage {
  return makeMessage({ jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } })
}

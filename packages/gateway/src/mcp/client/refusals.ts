import { HeaderBlock, sourceOf } from '@portico/http'
import type { Reply } from '../../pipeline/context/reply.ts'
import type { McpRecord } from '../../records/mcp-record.ts'
import {
  type BadMessage,
  INVALID_REQUEST,
  rpcError,
  type RpcId,
  type RpcMessage,
  SESSION_NOT_FOUND,
} from '../protocol.ts'
import type { Refusal } from './check-request.ts'
import type { EndpointCallParts } from '../engine/exchange.ts'

/** Responds to requests that are refused before a target gets them. */
export class Refusals {
  readonly #parts: EndpointCallParts
  readonly #record: McpRecord

  constructor(parts: EndpointCallParts) {
    this.#parts = parts
    this.#record = parts.rx.mcp!
  }

  /** Refuses the HTTP request. */
  http(status: number, text: string, more: readonly (readonly [string, string])[] = []): void {
    this.#record.fail('error', INVALID_REQUEST, text)
    this.#respond(status, rpcError(null, INVALID_REQUEST, text), more)
  }

  /** Refuses a request whose body could not be read. */
  reply({ status, headers, body, reason }: Reply): void {
    const { rx, handler } = this.#parts
    rx.reason = reason
    this.#record.fail('error', INVALID_REQUEST, body.toString('utf8').slice(0, 256))
    handler.responded({ status, headers, body: sourceOf(body) })
  }

  unreadable({ id, code, message }: BadMessage): void {
    this.#record.fail('error', code, message)
    this.#respond(400, rpcError(id, code, message))
  }

  message({ id }: RpcMessage, { status, code, message, data }: Refusal): void {
    this.#record.fail('error', code, message)
    this.#respond(status, rpcError(id, code, message, data))
  }

  badRequest(id: RpcId | null, text: string): void {
    const message = `Bad Request: ${text}`
    this.#record.fail('error', INVALID_REQUEST, message)
    this.#respond(400, rpcError(id, INVALID_REQUEST, message))
  }

  /** Makes the client begin a new session. */
  sessionNotFound(id: RpcId | null): void {
    this.#record.fail('error', SESSION_NOT_FOUND, 'Session not found')
    this.#respond(404, rpcError(id, SESSION_NOT_FOUND, 'Session not found'))
  }

  #respond(status: number, message: RpcMessage, more: readonly (readonly [string, string])[] = []): void {
    const { rx, handler } = this.#parts
    if (rx.reason === 'Upstream') rx.reason = 'InvalidRequest'
    const headers = HeaderBlock.of([['content-type', 'application/json'], ...more])
    handler.responded({ status, headers, body: sourceOf(message.bytes) })
  }
}

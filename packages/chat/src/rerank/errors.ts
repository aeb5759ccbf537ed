import type { ChatError, JsonObject } from '../middle.ts'

/** An error for clients of rerank calls: the SDK of Cohere reads `message`, those of Jina and Voyage read `detail`. */
export function encodeRerankError({ status, message, code }: ChatError): { status: number; body: JsonObject } {
  return { status, body: { message, detail: message, ...(code !== undefined && { code }) } }
}

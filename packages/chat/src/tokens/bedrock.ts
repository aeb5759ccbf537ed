import { countAt } from '@portico/http/json'
import type { JsonObject } from '../middle.ts'

/**
 * Encodes a token count for Bedrock, which counts the body of an InvokeModel call: the client's Messages body, without
 * the members that InvokeModel takes in its path.
 */
export function encodeBedrockCountTokens(body: JsonObject): JsonObject {
  const { model: _model, stream: _stream, ...invoked } = body
  const whole = { anthropic_version: BEDROCK_VERSION, max_tokens: 1, ...invoked }
  return { input: { invokeModel: { body: Buffer.from(JSON.stringify(whole)).toString('base64') } } }
}

/** The response for Messages clients; null when the body has no count. */
export function decodeBedrockCountTokens(body: JsonObject): JsonObject | null {
  const count = countAt(body, 'inputTokens')
  return count === undefined ? null : { input_tokens: count }
}

const BEDROCK_VERSION = 'bedrock-2023-05-31'

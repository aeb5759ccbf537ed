import { countAt } from '../../../wire/json.ts'
import type { JsonObject } from '../../middle.ts'

/** Bedrock counts what InvokeModel would read: the client's Messages body, without what that call takes elsewhere. */
export function encodeBedrockCountTokens(body: JsonObject): JsonObject {
  const { model: _model, stream: _stream, ...invoked } = body
  const whole = { anthropic_version: BEDROCK_VERSION, max_tokens: 1, ...invoked }
  return { input: { invokeModel: { body: Buffer.from(JSON.stringify(whole)).toString('base64') } } }
}

/** The answer as Messages clients read it; null when there is no count in it. */
export function decodeBedrockCountTokens(body: JsonObject): JsonObject | null {
  const count = countAt(body, 'inputTokens')
  return count === undefined ? null : { input_tokens: count }
}

const BEDROCK_VERSION = 'bedrock-2023-05-31'

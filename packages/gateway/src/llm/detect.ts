import type { LlmRecord } from '../records/llm-record.ts'
import { isObject, parseJsonObject } from '../wire/json.ts'
import type { JsonObject } from './middle.ts'
import { createSseParser } from '../wire/sse.ts'

/** Usage of an answer in whatever format: a JSON body, or the records of a stream, of which the last word counts. */
export function readDetected(bytes: Buffer, facts: LlmRecord): void {
  const whole = bytes[0] === OPEN_BRACE ? parseJsonObject(bytes.toString('utf8')) : null
  if (whole !== null) return probe(whole, facts)
  const parser = createSseParser()
  for (const { data } of [...parser.push(bytes), ...parser.end()]) {
    const record = data.includes('"usage') || data.includes('"model') ? parseJsonObject(data) : null
    if (record === null) continue
    facts.streaming = true
    probe(record, facts)
  }
}

function probe(body: JsonObject, facts: LlmRecord): void {
  for (const holder of [body, body['response'], body['message'], body['metadata']]) {
    if (!isObject(holder)) continue
    const model = holder['model'] ?? holder['modelVersion']
    if (typeof model === 'string') facts.responseModel = model
    for (const name of ['usage', 'usageMetadata']) {
      const usage = holder[name]
      if (isObject(usage)) readUsage(usage, facts)
    }
  }
}

function readUsage(usage: JsonObject, facts: LlmRecord): void {
  const input = first(usage, ['input_tokens', 'prompt_tokens', 'inputTokens', 'promptTokenCount'])
  const output = first(usage, ['output_tokens', 'completion_tokens', 'outputTokens', 'candidatesTokenCount'])
  const cacheRead = first(usage, ['cache_read_input_tokens', 'cacheReadInputTokens', 'cachedContentTokenCount'])
  facts.usage = {
    ...facts.usage,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    ...(cacheRead !== undefined && { cacheRead }),
  }
}

function first(usage: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = usage[name]
    if (typeof value === 'number' && value >= 0) return value
  }
  return undefined
}

const OPEN_BRACE = 0x7b

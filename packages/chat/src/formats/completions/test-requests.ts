import * as fc from 'fast-check'
import type { JsonObject } from '../../middle.ts'
import { id, name, text } from './test-exchanges.ts'

/** Requests in the spelling of the encoder, so that decoding and encoding returns the same body. */
export const requestBody: fc.Arbitrary<JsonObject> = fc
  .record({
    system: fc.option(fc.oneof(text(), fc.array(textPart(), { minLength: 2, maxLength: 3 })), { nil: undefined }),
    turns: fc.array(fc.oneof(userTurn(), systemTurn(), assistantTurn(), toolTurns()), { maxLength: 5 }),
    tools: fc.uniqueArray(tool(), { selector: nameOfTool, maxLength: 3 }),
    options: options(),
  })
  .map(({ system, turns, tools, options }) => ({
    ...options,
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...notFirstSystem(turns.flat())],
    ...(tools.length > 0 && { tools }),
  }))

/** Instructions right at the beginning belong to the system. Results that follow one another are one turn. */
function notFirstSystem(messages: JsonObject[]): JsonObject[] {
  const start = messages.findIndex(({ role }) => role !== 'system')
  return start === -1 ? [] : messages.slice(start)
}

function userTurn(): fc.Arbitrary<JsonObject[]> {
  const part = fc.oneof(
    textPart(),
    imagePart(),
    audioPart(),
    filePart(),
    fc.constant({ type: 'video_url', video_url: { url: 'x' } }),
  )
  const content = fc.oneof(text(), fc.array(part, { minLength: 2, maxLength: 3 }))
  return fc
    .record({ role: fc.constant('user'), content, name: name() }, { requiredKeys: ['role', 'content'] })
    .map((message) => [message])
}

function systemTurn(): fc.Arbitrary<JsonObject[]> {
  return text().map((content) => [{ role: 'system', content }])
}

function assistantTurn(): fc.Arbitrary<JsonObject[]> {
  const members = { role: fc.constant('assistant'), content: text(), refusal: text(), reasoning_content: text() }
  return fc.record(members, { requiredKeys: ['role', 'content'] }).map((message) => [message])
}

function toolTurns(): fc.Arbitrary<JsonObject[]> {
  const args = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
    text(),
  )
  const call = fc.record({ id: id(), name: name(), arguments: args, result: text() })
  return fc
    .record({
      calls: fc.uniqueArray(call, { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
      content: fc.option(text()),
    })
    .map(({ calls, content }) => [
      {
        role: 'assistant',
        content,
        tool_calls: calls.map(({ id, name, arguments: text }) => ({
          id,
          type: 'function',
          function: { name, arguments: text },
        })),
      },
      ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
    ])
}

function textPart(): fc.Arbitrary<JsonObject> {
  return fc
    .record({ value: text(), isMarked: fc.boolean(), extra: fc.boolean() })
    .map(({ value, isMarked, extra }) => ({
      ...(extra && { extra }),
      type: 'text',
      text: value,
      ...(isMarked && { cache_control: { type: 'ephemeral' } }),
    }))
}

function imagePart(): fc.Arbitrary<JsonObject> {
  const url = fc.oneof(
    fc.base64String().map((data) => `data:image/png;base64,${data}`),
    fc.constant('https://example.com/a.png'),
  )
  return fc
    .record({ url, detail: fc.constantFrom('low', 'high') }, { requiredKeys: ['url'] })
    .map((image) => ({ type: 'image_url', image_url: image }))
}

function audioPart(): fc.Arbitrary<JsonObject> {
  return fc
    .record({ data: fc.base64String(), format: fc.constantFrom('wav', 'mp3') })
    .map((audio) => ({ type: 'input_audio', input_audio: audio }))
}

function filePart(): fc.Arbitrary<JsonObject> {
  const stored = fc.record({ file_id: id() })
  const sent = fc.record({
    filename: name(),
    file_data: fc.base64String().map((data) => `data:application/pdf;base64,${data}`),
  })
  return fc.oneof(stored, sent).map((file) => ({ type: 'file', file }))
}

function tool(): fc.Arbitrary<JsonObject> {
  const schema = fc.constant({ type: 'object', properties: { a: { type: 'string' } } })
  const declared = { name: name(), description: text(), parameters: schema, strict: fc.boolean() }
  const plain = fc
    .record(declared, { requiredKeys: ['name', 'parameters'] })
    .map((declared): JsonObject => ({ type: 'function', function: { ...declared } }))
  const format = fc.constantFrom<JsonObject>(
    { type: 'text' },
    { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
  )
  const custom = fc
    .record({ name: name(), format }, { requiredKeys: ['name'] })
    .map((custom): JsonObject => ({ type: 'custom', custom: { ...custom } }))
  return fc.oneof(plain, custom)
}

function nameOfTool(tool: JsonObject): string {
  return JSON.stringify(tool)
}

function options(): fc.Arbitrary<JsonObject> {
  const number = fc.double({ min: 0, max: 2, noNaN: true }).map((value) => value + 0)
  return fc.record(
    {
      model: name(),
      max_tokens: fc.integer({ min: 1, max: 100_000 }),
      temperature: number,
      top_p: number,
      top_k: fc.nat(),
      frequency_penalty: number,
      presence_penalty: number,
      seed: fc.nat(),
      stop: fc.array(text(), { minLength: 1, maxLength: 3 }),
      reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'invented'),
      response_format: fc.constantFrom<JsonObject>(
        { type: 'json_object' },
        { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' }, strict: true, description: 'd' } },
        { type: 'grammar', grammar: 'x' },
      ),
      user: text(),
      n: fc.integer({ min: 1, max: 4 }),
      logprobs: fc.boolean(),
      metadata: fc.dictionary(name(), text()),
      unheard_of: fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonObject),
    },
    { requiredKeys: ['model'] },
  )
}

import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../middle.ts'
import { id, name, text } from '../completions/test-exchanges.ts'

/** Requests in the spelling of the encoder, so that decoding and encoding returns the same body. */
export const requestBody: fc.Arbitrary<JsonObject> = fc
  .record({
    turns: fc.array(fc.oneof(userTurn(), assistantTurn()), { maxLength: 5 }),
    tools: fc.array(fc.oneof(tool(), tool(), serverTool()), { maxLength: 3 }).map(nativeLast),
    choice: fc.option(toolChoice()),
    thinking: fc.option(thinking()),
    config: fc.record(
      { effort: fc.constantFrom('low', 'max', 'invented'), format: outputFormat(), task_budget: fc.nat() },
      { requiredKeys: [] },
    ),
    metadata: fc.record({ user_id: text(), other: text() }, { requiredKeys: [] }),
    options: options(),
  })
  .map(({ turns, tools, choice, thinking, config, metadata, options }) => ({
    ...options,
    messages: turns,
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && choice !== null && { tool_choice: choice }),
    ...(thinking !== null && { thinking }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }))

function userTurn(): fc.Arbitrary<JsonObject> {
  const block = fc.oneof(textBlock(), imageBlock(), documentBlock(), toolResult(), nativeBlock())
  return fc.array(block, { minLength: 1, maxLength: 4 }).map((content) => ({ role: 'user', content }))
}

function assistantTurn(): fc.Arbitrary<JsonObject> {
  const block = fc.oneof(textBlock(), thinkingBlock(), toolUse(), nativeBlock())
  return fc.array(block, { minLength: 1, maxLength: 4 }).map((content) => ({ role: 'assistant', content }))
}

/** The block with or without a cache mark, and with or without an unknown member. */
function marked(block: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc
    .record({ block, ttl: fc.option(fc.constantFrom('5m', '1h')), extra: fc.boolean() })
    .map(({ block, ttl, extra }) => ({
      ...(extra && { extra }),
      ...block,
      ...(ttl !== null && { cache_control: { type: 'ephemeral', ttl } }),
    }))
}

function textBlock(): fc.Arbitrary<JsonObject> {
  return marked(text().map((text) => ({ type: 'text', text })))
}

function imageBlock(): fc.Arbitrary<JsonObject> {
  const source = fc.oneof(
    fc.base64String().map((data): JsonObject => ({ type: 'base64', media_type: 'image/png', data })),
    fc.constant<JsonObject>({ type: 'url', url: 'https://example.com/a.png' }),
    id().map((file_id): JsonObject => ({ type: 'file', file_id })),
  )
  return marked(source.map((source) => ({ type: 'image', source })))
}

function documentBlock(): fc.Arbitrary<JsonObject> {
  const source = fc.oneof(
    fc.base64String().map((data): JsonObject => ({ type: 'base64', media_type: 'application/pdf', data })),
    text().map((data): JsonObject => ({ type: 'text', media_type: 'text/plain', data })),
    fc.constant<JsonObject>({ type: 'url', url: 'https://example.com/a.pdf' }),
    id().map((file_id): JsonObject => ({ type: 'file', file_id })),
  )
  const document = fc
    .record({ source, title: fc.option(text()) })
    .map(({ source, title }): JsonObject => ({ type: 'document', source, ...(title !== null && { title }) }))
  return marked(document)
}

function nativeBlock(): fc.Arbitrary<JsonObject> {
  return fc.constantFrom<JsonObject>(
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ encrypted_content: 'x' }] },
    { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }] }, context: 'c' },
    { type: 'container_upload', file_id: 'f' },
  )
}

function thinkingBlock(): fc.Arbitrary<JsonObject> {
  const sealed = fc.base64String({ minLength: 4 })
  return fc.oneof(
    fc.record({ type: fc.constant('thinking'), thinking: fc.string(), signature: sealed }),
    fc.record({ type: fc.constant('redacted_thinking'), data: sealed }),
  )
}

function toolUse(): fc.Arbitrary<JsonObject> {
  const input = fc.dictionary(name(), json())
  return marked(fc.record({ id: id(), name: name(), input }).map((use) => ({ type: 'tool_use', ...use })))
}

function toolResult(): fc.Arbitrary<JsonObject> {
  const block = fc.oneof(
    textBlock(),
    imageBlock(),
    documentBlock(),
    fc.constant<JsonObject>({ type: 'search_result', title: 't' }),
  )
  const content = fc.oneof(text(), fc.array(block, { minLength: 2, maxLength: 3 }))
  const result = fc
    .record({ tool_use_id: id(), content: fc.option(content), isError: fc.boolean() })
    .map(({ tool_use_id, content, isError }): JsonObject => ({
      type: 'tool_result',
      tool_use_id,
      ...(content !== null && { content }),
      ...(isError && { is_error: true }),
    }))
  return marked(result)
}

function tool(): fc.Arbitrary<JsonObject> {
  const schema = fc.constant<JsonObject>({ type: 'object', properties: { a: { type: 'string' } } })
  return marked(
    fc
      .record(
        { name: name(), description: text(), input_schema: schema, strict: fc.boolean() },
        { requiredKeys: ['name', 'input_schema'] },
      )
      .map((tool) => ({ ...tool })),
  )
}

function serverTool(): fc.Arbitrary<JsonObject> {
  return fc.constantFrom<JsonObject>(
    { type: 'web_search_20250305', name: 'web_search', max_uses: 5 },
    { type: 'bash_20250124', name: 'bash' },
  )
}

/** Puts the provider's own tools after the client's. */
function nativeLast(tools: JsonObject[]): JsonObject[] {
  return [...tools.filter(({ type }) => type === undefined), ...tools.filter(({ type }) => type !== undefined)]
}

function toolChoice(): fc.Arbitrary<JsonObject> {
  const flag = fc
    .option(fc.boolean())
    .map((value): JsonObject => (value === null ? {} : { disable_parallel_tool_use: value }))
  return fc.oneof(
    fc.tuple(fc.constantFrom('auto', 'any'), flag).map(([type, flag]) => ({ type, ...flag })),
    fc.tuple(name(), flag).map(([name, flag]): JsonObject => ({ type: 'tool', name, ...flag })),
    fc.constantFrom<JsonObject>({ type: 'none' }, { type: 'invented', more: 1 }),
  )
}

function thinking(): fc.Arbitrary<JsonObject> {
  return fc.constantFrom<JsonObject>(
    { type: 'enabled', budget_tokens: 2048 },
    { type: 'enabled', budget_tokens: 31_999, display: 'omitted' },
    { type: 'adaptive' },
    { type: 'adaptive', display: 'summarized' },
    { type: 'disabled' },
  )
}

function outputFormat(): fc.Arbitrary<JsonObject> {
  return fc.constant({ type: 'json_schema', schema: { type: 'object', properties: { a: { type: 'string' } } } })
}

function options(): fc.Arbitrary<JsonObject> {
  return fc.record(
    {
      model: name(),
      max_tokens: fc.integer({ min: 1, max: 100_000 }),
      system: fc.oneof<fc.Arbitrary<Json>[]>(text(), fc.array(textBlock(), { minLength: 2, maxLength: 3 })),
      temperature: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
      top_p: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
      top_k: fc.nat(),
      stop_sequences: fc.array(text(), { minLength: 1, maxLength: 3 }),
      stream: fc.constant(true),
      service_tier: fc.constant('auto'),
      container: json(),
      cache_control: fc.constant({ type: 'ephemeral' }),
    },
    { requiredKeys: ['model', 'max_tokens'] },
  )
}

function json(): fc.Arbitrary<Json> {
  return fc
    .jsonValue({ maxDepth: 2 })
    .filter((value) => value !== null)
    .map((value) => JSON.parse(JSON.stringify(value)) as Json)
}

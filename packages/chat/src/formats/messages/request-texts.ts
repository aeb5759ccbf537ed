import { isObject } from '@portico/http/json'
import { documentSource, imageSource } from '../../texts/request-files.ts'
import {
  anything,
  block,
  list,
  nested,
  object,
  plain,
  type Reading,
  saidBy,
  schema,
  settings,
  text,
  textOrList,
  unexamined,
  unread,
} from '../../texts/request-texts.ts'

/** The members of a Messages request that contain text for the model. */

const textBlock = object({ type: settings, text, cache_control: settings, citations: nested })
const image = object({ type: settings, source: imageSource, cache_control: settings })
const searchResult = object({
  type: settings,
  title: text,
  source: text,
  content: list(block({ text: textBlock })),
  cache_control: settings,
  citations: settings,
})
const document = object({
  type: settings,
  title: text,
  context: text,
  source: documentSource(textOrList(block({ text: textBlock, image }))),
  cache_control: settings,
  citations: settings,
})

/** The block types that a tool result may contain. */
export const resultBlocks: Readonly<Record<string, Reading>> = {
  text: textBlock,
  image,
  search_result: searchResult,
  document,
  tool_reference: nested,
  browser_state: nested,
}

/** A signature is invalid once its text is masked. */
const thinking: Reading = (value, at) => {
  const after = object({ type: settings, thinking: text, signature: unread, cache_control: settings })(value, at)
  if (after === value || !isObject(after)) return after
  const { signature: _signature, ...unsigned } = after
  return unsigned
}

/** Every block type of the installed SDK. */
export const blocks: Readonly<Record<string, Reading>> = {
  text: textBlock,
  image,
  document,
  search_result: searchResult,
  thinking,
  redacted_thinking: object({ type: settings, data: unread, cache_control: settings }),
  tool_use: object({
    type: settings,
    id: plain,
    name: settings,
    input: anything,
    caller: settings,
    cache_control: settings,
    toolset_name: settings,
  }),
  tool_result: saidBy(
    'tool',
    object({
      type: settings,
      tool_use_id: plain,
      content: textOrList(block(resultBlocks)),
      is_error: plain,
      cache_control: settings,
      toolset_name: settings,
    }),
  ),
  server_tool_use: nested,
  web_search_tool_result: nested,
  web_fetch_tool_result: nested,
  advisor_tool_result: nested,
  code_execution_tool_result: nested,
  bash_code_execution_tool_result: nested,
  text_editor_code_execution_tool_result: nested,
  tool_search_tool_result: nested,
  mcp_tool_use: nested,
  mcp_tool_result: nested,
  container_upload: object({ type: settings, file_id: unexamined('File'), cache_control: settings }),
  compaction: nested,
  tool_addition: nested,
  tool_removal: nested,
  mcp_tool_listing: nested,
  fallback: nested,
}

const message = object({ role: settings, content: textOrList(block(blocks)) })

const tool = object({
  type: settings,
  name: settings,
  description: text,
  input_schema: schema,
  cache_control: settings,
  strict: plain,
})

export const messagesRequest: Reading = object({
  model: plain,
  system: saidBy('system', textOrList(block({ text: textBlock }))),
  messages: list((value, at) => {
    const role = isObject(value) ? value.role : undefined
    return message(value, { ...at, role: role === 'assistant' || role === 'system' ? role : 'user' })
  }),
  tools: saidBy('system', list(tool)),
  tool_choice: settings,
  output_config: saidBy('system', object({ effort: settings, format: object({ type: settings, schema }) })),
  output_format: saidBy('system', object({ type: settings, schema })),
  thread: unexamined('Stored'),
  container: settings,
  metadata: unread,
  // Guards do not read tokens for the MCP servers that the provider calls.
  mcp_servers: unread,
  fallback_credit_token: unread,
  cache_control: settings,
  context_management: settings,
  compaction: nested,
  diagnostics: settings,
  fallbacks: settings,
  inference_geo: settings,
  service_tier: settings,
  speed: settings,
  stop_sequences: unread,
  thinking: settings,
  max_tokens: plain,
  temperature: plain,
  top_k: plain,
  top_p: plain,
  stream: plain,
})

import { isObject } from '@portico/http/json'
import { openAiFile } from '../../texts/request-files.ts'
import {
  anything,
  block,
  jsonText,
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
  type TextRole,
  unexamined,
  unread,
} from '../../texts/request-texts.ts'

/** The members of a Responses request that contain text for the model. */

const textPart = object({
  type: settings,
  text,
  annotations: nested,
  logprobs: nested,
  prompt_cache_breakpoint: settings,
})
const image = object({
  type: settings,
  image_url: unexamined('Image'),
  file_id: unexamined('Image'),
  detail: settings,
  prompt_cache_breakpoint: settings,
})

/** Every kind of content of the installed SDK. */
export const contentParts: Readonly<Record<string, Reading>> = {
  text: textPart,
  input_text: textPart,
  output_text: textPart,
  refusal: object({ type: settings, refusal: text }),
  input_image: image,
  input_file: openAiFile,
  input_audio: object({ type: settings, input_audio: unexamined('Audio') }),
}

const content = textOrList(block(contentParts))
const ids = { type: settings, id: plain, call_id: plain, status: settings, caller: settings }
const output = saidBy('tool', object({ ...ids, output: content }))
const summary = list(block({ summary_text: textPart, reasoning_text: textPart }))

const message: Reading = (value, at) => {
  const role = roleOf(isObject(value) ? value.role : null)
  return object({ ...ids, role: settings, phase: settings, content })(value, { ...at, role })
}

function roleOf(role: unknown): TextRole {
  return role === 'system' || role === 'developer' ? 'system' : role === 'assistant' ? role : 'user'
}

const tool: Reading = object({
  type: settings,
  name: settings,
  description: text,
  parameters: schema,
  strict: plain,
  format: anything,
  server_description: text,
  // Guards do not read credentials for the MCP servers that the provider calls.
  authorization: unread,
  headers: unread,
  container: settings,
  vector_store_ids: settings,
})

/** Every kind of item of the installed SDK. */
export const items: Readonly<Record<string, Reading>> = {
  message,
  function_call: saidBy('assistant', object({ ...ids, name: settings, namespace: settings, arguments: jsonText })),
  function_call_output: output,
  custom_tool_call: saidBy('assistant', object({ ...ids, name: settings, namespace: settings, input: text })),
  custom_tool_call_output: output,
  reasoning: saidBy('assistant', object({ ...ids, summary, content: summary, encrypted_content: unread })),
  item_reference: unexamined('Stored'),
  file_search_call: saidBy('assistant', nested),
  computer_call: saidBy('assistant', nested),
  computer_call_output: saidBy('tool', object({ ...ids, output: unexamined('Image') })),
  web_search_call: saidBy('assistant', nested),
  tool_search_call: saidBy('assistant', nested),
  tool_search_output: saidBy('tool', object({ ...ids, tools: list(tool), execution: settings })),
  additional_tools: saidBy('system', object({ ...ids, role: settings, tools: list(tool) })),
  configuration_update: settings,
  compaction: nested,
  compaction_trigger: nested,
  image_generation_call: object({ ...ids, result: unexamined('Image'), revised_prompt: text }),
  code_interpreter_call: saidBy('assistant', nested),
  local_shell_call: saidBy('assistant', nested),
  local_shell_call_output: saidBy('tool', nested),
  shell_call: saidBy('assistant', nested),
  shell_call_output: saidBy('tool', nested),
  apply_patch_call: saidBy('assistant', nested),
  apply_patch_call_output: saidBy('tool', nested),
  mcp_list_tools: saidBy('tool', nested),
  mcp_approval_request: saidBy('assistant', nested),
  mcp_approval_response: nested,
  mcp_call: saidBy('tool', nested),
  program: saidBy('assistant', nested),
  program_output: saidBy('tool', nested),
}

/** An item may leave its type out. */
const typedItem = block(items)
const item: Reading = (value, at) => {
  if (!isObject(value) || (value.type !== undefined && value.type !== null)) return typedItem(value, at)
  return 'role' in value ? message(value, at) : unexamined('Stored')(value, at)
}

const part = block(contentParts)
const variable: Reading = (value, at) => (typeof value === 'string' ? text(value, at) : part(value, at))

/** Names of variables are the client's own. */
const variables: Reading = (value, at) => {
  if (!isObject(value)) return anything(value, at)
  return object(Object.fromEntries(Object.keys(value).map((name) => [name, variable])))(value, at)
}

export const responsesRequest: Reading = object({
  model: plain,
  instructions: saidBy('system', text),
  input: textOrList(item),
  prompt: object({ id: unexamined('Stored'), version: settings, variables }),
  previous_response_id: unexamined('Stored'),
  conversation: unexamined('Stored'),
  tools: saidBy('system', list(tool)),
  tool_choice: settings,
  text: saidBy(
    'system',
    object({
      verbosity: settings,
      format: object({ type: settings, name: settings, description: text, schema, strict: plain }),
    }),
  ),
  access_programs: settings,
  background: plain,
  context_management: settings,
  image: settings,
  include: settings,
  max_output_tokens: plain,
  max_tool_calls: plain,
  metadata: unread,
  moderation: settings,
  parallel_tool_calls: plain,
  prompt_cache_key: unread,
  prompt_cache_options: settings,
  prompt_cache_retention: settings,
  reasoning: settings,
  safety_identifier: unread,
  service_tier: settings,
  store: plain,
  stream: plain,
  stream_options: settings,
  temperature: plain,
  top_logprobs: plain,
  top_p: plain,
  truncation: settings,
  user: unread,
})

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

/** The members of a Chat Completions request that contain text for the model. */

/** Every content type of the installed SDK. */
export const contentParts: Readonly<Record<string, Reading>> = {
  text: object({
    type: settings,
    text,
    cache_control: settings,
    prompt_cache_breakpoint: settings,
    annotations: nested,
  }),
  refusal: object({ type: settings, refusal: text }),
  image_url: object({
    type: settings,
    image_url: unexamined('Image'),
    cache_control: settings,
    prompt_cache_breakpoint: settings,
  }),
  input_audio: object({ type: settings, input_audio: unexamined('Audio'), prompt_cache_breakpoint: settings }),
  file: object({ type: settings, file: openAiFile, cache_control: settings, prompt_cache_breakpoint: settings }),
}

const call = object({ name: settings, arguments: jsonText })
const content = textOrList(block(contentParts))

/** An entry of `reasoning_details`, a convention of servers and clients; masking its text drops the signature. */
const detail: Reading = (value, at) => {
  const read = object({
    type: settings,
    text,
    summary: text,
    data: unread,
    signature: unread,
    id: plain,
    format: settings,
    index: plain,
  })
  const after = read(value, at)
  if (after === value || !isObject(after)) return after
  const { signature: _signature, ...unsigned } = after
  return unsigned
}

const members = object({
  role: settings,
  content,
  name: text,
  tool_calls: list(
    object({
      id: plain,
      type: settings,
      index: plain,
      function: call,
      custom: object({ name: settings, input: text }),
      extra_content: settings,
    }),
  ),
  function_call: call,
  tool_call_id: plain,
  refusal: text,
  audio: unexamined('Audio'),
  annotations: nested,
  reasoning_content: text,
  reasoning: text,
  reasoning_signature: unread,
  reasoning_details: list(detail),
  cache_control: settings,
})

const message: Reading = (value, at) => {
  const after = members(value, { ...at, role: roleOf(isObject(value) ? value.role : null) })
  if (!isObject(value) || !isObject(after) || after.reasoning_signature === undefined) return after
  const isMasked = after.reasoning_content !== value.reasoning_content || after.reasoning !== value.reasoning
  const { reasoning_signature: _signature, ...unsigned } = after
  return isMasked ? unsigned : after
}

function roleOf(role: unknown): TextRole {
  if (role === 'system' || role === 'developer') return 'system'
  if (role === 'tool' || role === 'function') return 'tool'
  return role === 'assistant' ? role : 'user'
}

const declared = object({ name: settings, description: text, parameters: schema, strict: plain })
const tool = object({
  type: settings,
  function: declared,
  custom: object({ name: settings, description: text, format: anything }),
  cache_control: settings,
})

export const completionsRequest: Reading = object({
  model: plain,
  messages: list(message),
  prediction: saidBy('assistant', object({ type: settings, content })),
  tools: saidBy('system', list(tool)),
  functions: saidBy('system', list(declared)),
  tool_choice: settings,
  function_call: settings,
  response_format: saidBy(
    'system',
    object({
      type: settings,
      json_schema: object({ name: settings, description: text, schema, strict: plain }),
      schema,
    }),
  ),
  web_search_options: saidBy('system', nested),
  audio: settings,
  modalities: settings,
  metadata: unread,
  user: unread,
  safety_identifier: unread,
  prompt_cache_key: unread,
  prompt_cache_options: settings,
  prompt_cache_retention: settings,
  moderation: settings,
  stop: unread,
  logit_bias: unread,
  logprobs: plain,
  top_logprobs: plain,
  reasoning_effort: settings,
  service_tier: settings,
  verbosity: settings,
  stream_options: settings,
  store: plain,
  stream: plain,
  n: plain,
  seed: plain,
  max_tokens: plain,
  max_completion_tokens: plain,
  temperature: plain,
  top_p: plain,
  top_k: plain,
  frequency_penalty: plain,
  presence_penalty: plain,
  parallel_tool_calls: plain,
})

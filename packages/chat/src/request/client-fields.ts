import type { FilePart, FormatName, ImagePart, Loss } from '../middle.ts'

/**
 * The names that each client format gives to the fields of the middle, so that reported losses and refusals name the
 * client's own fields.
 */

export type ClientField = keyof typeof fields

export function clientField(format: FormatName, field: ClientField): string {
  const names = fields[field]
  return typeof names === 'string' ? names : (namesIn(names, format) ?? names.completions)
}

/** The client's field with the data, the URL or the file id of an image or a file. */
export function mediaField(format: FormatName, { type, source }: ImagePart | FilePart): string {
  if (source.kind === 'id') return clientField(format, 'fileId')
  return clientField(format, type === 'file' && source.kind === 'url' ? 'fileUrl' : type)
}

/**
 * Records a loss. A loss that repeats, as in a long conversation, is recorded once, and at most `MAX_LOSSES` are kept.
 */
export function lose(losses: Loss[], loss: Loss): void {
  if (losses.length >= MAX_LOSSES) return
  const isKnown = losses.some(({ what, path, note }) => what === loss.what && path === loss.path && note === loss.note)
  if (!isKnown) losses.push(loss)
}

const MAX_LOSSES = 50

interface Names {
  completions: string
  messages: string
  responses: string
}

function namesIn(names: Names, format: FormatName): string | undefined {
  return format === 'completions' || format === 'messages' || format === 'responses' ? names[format] : undefined
}

const fields = {
  content: { completions: 'messages[].content[]', messages: 'messages[].content[]', responses: 'input[].content[]' },
  image: {
    completions: 'messages[].content[].image_url',
    messages: 'messages[].content[].source',
    responses: 'input[].content[].image_url',
  },
  file: {
    completions: 'messages[].content[].file',
    messages: 'messages[].content[].source',
    responses: 'input[].content[].file_data',
  },
  /** The id of a file that a vendor stores for the client. */
  fileId: {
    completions: 'messages[].content[].file.file_id',
    messages: 'messages[].content[].source.file_id',
    responses: 'input[].content[].file_id',
  },
  fileUrl: {
    completions: 'messages[].content[].file',
    messages: 'messages[].content[].source',
    responses: 'input[].content[].file_url',
  },
  audio: {
    completions: 'messages[].content[].input_audio',
    messages: 'messages[].content[]',
    responses: 'input[].content[].input_audio',
  },
  toolArguments: {
    completions: 'messages[].tool_calls[].function.arguments',
    messages: 'messages[].content[].input',
    responses: 'input[].arguments',
  },
  reasoningHistory: {
    completions: 'messages[].reasoning_content',
    messages: 'messages[].content[].thinking',
    responses: 'input[].reasoning',
  },
  callSignature: {
    completions: 'messages[].tool_calls[].id',
    messages: 'messages[].content[].id',
    responses: 'input[].call_id',
  },
  toolResultId: {
    completions: 'messages[].tool_call_id',
    messages: 'messages[].content[].tool_use_id',
    responses: 'input[].call_id',
  },
  toolError: { completions: 'messages[]', messages: 'messages[].content[].is_error', responses: 'input[].status' },
  imageDetail: {
    completions: 'messages[].content[].image_url.detail',
    messages: 'messages[].content[]',
    responses: 'input[].content[].detail',
  },
  cache: 'cache_control',
  maxTokens: { completions: 'max_tokens', messages: 'max_tokens', responses: 'max_output_tokens' },
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  seed: 'seed',
  stop: { completions: 'stop', messages: 'stop_sequences', responses: 'stop' },
  tools: 'tools',
  strict: { completions: 'tools[].function.strict', messages: 'tools[].strict', responses: 'tools[].strict' },
  toolSchema: {
    completions: 'tools[].function.parameters',
    messages: 'tools[].input_schema',
    responses: 'tools[].parameters',
  },
  toolFormat: {
    completions: 'tools[].custom.format',
    messages: 'tools[]',
    responses: 'tools[].format',
  },
  toolChoice: 'tool_choice',
  parallelTools: {
    completions: 'parallel_tool_calls',
    messages: 'tool_choice.disable_parallel_tool_use',
    responses: 'parallel_tool_calls',
  },
  reasoning: { completions: 'reasoning_effort', messages: 'thinking', responses: 'reasoning' },
  output: { completions: 'response_format', messages: 'output_config.format', responses: 'text.format' },
  user: { completions: 'user', messages: 'metadata.user_id', responses: 'user' },
} as const satisfies Record<string, string | Names>

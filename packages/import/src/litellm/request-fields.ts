import type { Field } from '../core/yaml-field.ts'

/** Fields of Chat Completions that LiteLLM adds to requests which lack them. */
const FIELDS = [
  ...['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'stop', 'seed', 'user', 'n'],
  ...['frequency_penalty', 'presence_penalty', 'reasoning_effort', 'response_format', 'tools', 'tool_choice'],
  ...['logprobs', 'top_logprobs', 'parallel_tool_calls', 'top_k', 'service_tier', 'verbosity'],
]

/** The `ai` policy that sets the fields of an entry; null without any. */
export function requestFields(params: Field): { defaults: object[] } | null {
  const defaults: object[] = []
  for (const name of FIELDS) {
    const field = params.get(name)
    if (field === null) continue
    if (JSON.stringify(field.plain).includes('os.environ/')) continue
    field.carried('the gateway sets the value when the client omits it')
    defaults.push({ field: name, value: field.plain })
  }
  return defaults.length === 0 ? null : { defaults }
}

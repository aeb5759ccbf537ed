/** What the id of a Bedrock model, or the name of an inference profile, says about the model behind it. */

export type Family = 'claude' | 'nova' | 'gptOss' | 'other'

export function familyOf(model: string): Family {
  if (/claude/.test(model) || isApplicationProfile(model)) return 'claude'
  if (/amazon\.nova/.test(model)) return 'nova'
  return /openai\.gpt-oss/.test(model) ? 'gptOss' : 'other'
}

/** Its name tells nothing, and most hide a Claude. */
function isApplicationProfile(model: string): boolean {
  return /^arn:.*:application-inference-profile\//.test(model)
}

export function canCache(model: string): boolean {
  if (/claude-(?:instant|v1|v2)/.test(model)) return false
  return /anthropic\.claude|amazon\.nova/.test(model) || isApplicationProfile(model)
}

/** How a Claude is told to think: not at all, by a number of tokens, or by a word. */
export function thinkingOf(model: string): 'never' | 'budget' | 'adaptive' {
  if (isApplicationProfile(model)) return 'budget'
  if (/claude-(?:instant|v\d)/.test(model)) return 'never'
  const [, major, minor] = /claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? []
  // Names without a number belong to models newer than all that have one.
  if (major === undefined) return 'adaptive'
  const version = Number(major) + Number(minor ?? 0) / 10
  if (version < 3.7) return 'never'
  return version < 4.6 ? 'budget' : 'adaptive'
}

export function isNova2(model: string): boolean {
  return /amazon\.nova-2/.test(model)
}

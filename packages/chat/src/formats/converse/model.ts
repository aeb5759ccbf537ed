/** Properties of a Bedrock model, read from its id or the name of its inference profile. */

type Family = 'claude' | 'nova' | 'gptOss' | 'other'

export function familyOf(model: string): Family {
  if (/claude/.test(model) || isApplicationProfile(model)) return 'claude'
  if (/amazon\.nova/.test(model)) return 'nova'
  return /openai\.gpt-oss/.test(model) ? 'gptOss' : 'other'
}

/**
 * Whether the model is an application inference profile. Its name does not tell the model, which is usually a Claude.
 */
function isApplicationProfile(model: string): boolean {
  return /^arn:.*:application-inference-profile\//.test(model)
}

export function canCache(model: string): boolean {
  if (/claude-(?:instant|v1|v2)/.test(model)) return false
  return /anthropic\.claude|amazon\.nova/.test(model) || isApplicationProfile(model)
}

/** The way a Claude model takes its thinking setting: not at all, as a number of tokens, or as an effort. */
export function thinkingOf(model: string): 'never' | 'budget' | 'adaptive' {
  if (isApplicationProfile(model)) return 'budget'
  if (/claude-(?:instant|v\d)/.test(model)) return 'never'
  const [, major, minor] = /claude-(?:[a-z]+-)?(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? []
  // Model names without a version are newer than all versioned names.
  if (major === undefined) return 'adaptive'
  const version = Number(major) + Number(minor ?? 0) / 10
  if (version < 3.7) return 'never'
  return version < 4.6 ? 'budget' : 'adaptive'
}

export function isNova2(model: string): boolean {
  return /amazon\.nova-2/.test(model)
}

import type { Effort } from '../../middle.ts'

/** Properties of a Gemini model, read from its name. */

/**
 * The version, such as 2.5 for `gemini-2.5-pro`; null when the name has no version. `latest` names count as newer than
 * all versions.
 */
export function versionOf(model: string): number | null {
  const version = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1]
  if (version !== undefined) return Number(version)
  return /gemini-.*latest/.test(model) ? Infinity : null
}

/**
 * Whether the model is Gemini 3 or newer. These models refuse a tool call without a signature, and have thinking levels
 * instead of a budget.
 */
export function isGemini3(model: string): boolean {
  return (versionOf(model) ?? 0) >= 3
}

type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high'

/** The nearest thinking level of a model. None of these models can turn thinking off. */
export function levelOf(effort: Effort, model: string): ThinkingLevel {
  switch (effort) {
    case 'none':
    case 'minimal':
      return hasMinimalLevel(model) ? 'minimal' : 'low'
    case 'low':
      return 'low'
    case 'medium':
      return /gemini-3-pro/.test(model) ? 'high' : 'medium'
    case 'high':
    case 'xhigh':
    case 'max':
      return 'high'
  }
}

/** Whether the model has the level `minimal`: all Lite models, and Flash models before 3.7. */
function hasMinimalLevel(model: string): boolean {
  return /-lite/.test(model) || (/-flash/.test(model) && (versionOf(model) ?? 0) < 3.7)
}

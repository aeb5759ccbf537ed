import type { Effort } from '../../middle.ts'

/** What the name of a Gemini model says about it. */

/** 2.5 of `gemini-2.5-pro`; null when the name tells none. Names that stand for the newest model count as above all. */
export function versionOf(model: string): number | null {
  const version = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1]
  if (version !== undefined) return Number(version)
  return /gemini-.*latest/.test(model) ? Infinity : null
}

/** From here on a call without a signature is refused, and thinking has levels in place of a budget. */
export function isGemini3(model: string): boolean {
  return (versionOf(model) ?? 0) >= 3
}

export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high'

/** The level that comes nearest. None of these models can be told not to think at all. */
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

/** Of the fast models alone, and of the larger ones among these only up to 3.6. */
function hasMinimalLevel(model: string): boolean {
  return /-lite/.test(model) || (/-flash/.test(model) && (versionOf(model) ?? 0) < 3.7)
}

import type { Passing, SourceLocation } from '../../findings/explanation.ts'
import { type Explainer, numberIn, textIn, value, remedy } from '../../findings/subject.ts'
import { cut } from '../../findings/words.ts'

/** Explains a rejection: the guard, its location and its findings, never the text. */
export const guard: Explainer = ({ reason, record, view }) => {
  const phase = textIn(reason, 'phase') === 'response' ? 'response' : 'request'
  const index = numberIn(reason, 'index') ?? 0
  const attached = view.said('backend', 'ai', record.keys, null).filter(({ config }) => 'promptGuard' in config)
  const place = view.locate(attached.at(-1)?.config, ['promptGuard', phase, index])
  const found = Array.isArray(reason.values['found']) ? reason.values['found'].map(String) : []
  const name = textIn(reason, 'guard') ?? 'unknown'
  const isFailed = reason.code === 'guard_failed'
  const verb = isFailed ? 'failed' : `rejected the ${phase}`
  return {
    code: `${phase}_${reason.code}`,
    headline: `the ${name} guard at \`promptGuard.${phase}[${index}]\` ${verb}: ${textIn(reason, 'reason') ?? 'no reason given'}`,
    place,
    values: [
      value('guard', name),
      value('phase', phase),
      value('found', found.length === 0 ? null : found),
      value('model', textIn(reason, 'model') ?? (record.llm?.requestModel || null)),
    ],
    wouldPass: isFailed
      ? remediesOfFailure(name, place)
      : [
          remedy(
            'client',
            `the ${phase} contains ${found.length === 0 ? 'no text that the guard rejects' : `no ${cut(found.join(', '))}`}`,
          ),
          remedy('config', 'the guard allows this text', { place }),
        ],
  }
}

/** Pattern guards call no service, and the oldest guards of vendors have no failure mode. */
function remediesOfFailure(name: string, place: SourceLocation | null): Passing[] {
  if (name === 'regex') {
    return [
      remedy('client', 'the texts are shorter'),
      remedy('config', 'the patterns of the guard are simpler', { place }),
    ]
  }
  const responds = remedy('backend', `the service of the ${name} guard responds`)
  if (!WITH_FAILURE_MODE.has(name)) return [responds]
  const failureMode = { of: 'failureMode', found: 'FailClosed', relation: 'equals', value: 'FailOpen', place } as const
  return [responds, remedy('config', '`failureMode` is FailOpen', failureMode)]
}

const WITH_FAILURE_MODE: ReadonlySet<string> = new Set(['webhook', 'http', 'presidio', 'lakera', 'azureContentSafety'])

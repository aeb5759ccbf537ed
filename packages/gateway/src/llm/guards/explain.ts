import { type Explainer, numberIn, textIn, value, way } from '../../findings/subject.ts'
import { cut } from '../../findings/words.ts'

/** Explains a rejection: the guard, its location and its findings, never the text. */
export const guard: Explainer = ({ reason, record, view }) => {
  const phase = textIn(reason, 'phase') === 'response' ? 'response' : 'request'
  const index = numberIn(reason, 'index') ?? 0
  const said = view.said('backend', 'ai', record.keys, null).filter(({ config }) => 'promptGuard' in config)
  const place = view.locate(said.at(-1)?.config, ['promptGuard', phase, index])
  const found = Array.isArray(reason.values['found']) ? reason.values['found'].map(String) : []
  const name = textIn(reason, 'guard') ?? 'guard'
  const why = textIn(reason, 'reason') ?? ''
  const isFailed = reason.code === 'guard_failed'
  const whose = phase === 'request' ? 'what the client said' : 'what the model said'
  return {
    code: `${phase}_${reason.code}`,
    headline: isFailed
      ? `guard ${index} (${name}) of the ${phase} could not judge: ${why}`
      : `guard ${index} (${name}) of the ${phase} refused ${whose}: ${why}`,
    place,
    values: [
      value('guard', name),
      value('phase', phase),
      value('found', found.length === 0 ? null : found),
      value('model', textIn(reason, 'model') ?? (record.llm?.requestModel || null)),
    ],
    wouldPass: isFailed
      ? [
          way('backend', `the service behind the guard ${name} answers`),
          way('config', 'the guard may fail open', { place }),
        ]
      : [
          way('client', `the text is without ${found.length === 0 ? 'what the guard found' : cut(found.join(', '))}`),
          way('config', 'the guard lets it pass', { place }),
        ],
  }
}

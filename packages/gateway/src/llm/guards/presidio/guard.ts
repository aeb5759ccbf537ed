import type { GuardTarget } from '../ask.ts'
import type { Guard } from '../guard.ts'
import type { HttpCheck } from '../http/check.ts'
import { createCheckingGuard } from '../http/guard.ts'
import type { CustomResponseConfig } from '../rejection.ts'
import type { PresidioConfig } from './schema.ts'

export function createPresidioGuard(
  config: PresidioConfig,
  target: GuardTarget,
  response: CustomResponseConfig,
): Guard {
  const { action, entities = null, scoreThreshold, language } = config
  const call = action === 'Mask' ? { ...analyze, mask: MASK } : { ...analyze, reject: REJECT }
  return createCheckingGuard(
    [call],
    { entities, scoreThreshold, language },
    { name: 'presidio', target, response, call: config },
  )
}

/** The analyzer gets a list of texts and returns a list of entities for each; offsets are those of Python strings. */
const analyze: HttpCheck = {
  method: 'POST',
  path: '/analyze',
  headers: [],
  body: `{
    "text": texts,
    "language": config.language,
    "score_threshold": config.scoreThreshold,
    "entities": config.entities
  }`,
  found: `response.body.flatten().map(entity, entity.score >= config.scoreThreshold, entity.entity_type)`,
  offsets: 'Characters',
  maxTexts: 500,
  maxCharacters: 100_000,
}

// `+ []` fails on anything but a list.
const MASK = `size(response.body) != size(texts) ? fail("not one list for each text")
  : response.body.transformList(index, entities, (entities + [])
      .filter(entity, entity.score >= config.scoreThreshold)
      .map(entity, {
        "index": index,
        "start": entity.start,
        "end": entity.end,
        "mask": "<" + entity.entity_type + ">"
      })).flatten()`

const REJECT = `size(response.body) != size(texts) ? fail("not one list for each text")
  : response.body.exists(entities, (entities + []).exists(entity, entity.score >= config.scoreThreshold))`

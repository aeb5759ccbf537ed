import type { JsonObject } from '@portico/chat'
import type { GuardTarget } from '../ask.ts'
import type { Guard } from '../guard.ts'
import type { HttpCheck } from '../http/check.ts'
import { createCheckingGuard } from '../http/guard.ts'
import type { CustomResponseConfig } from '../rejection.ts'
import type { LakeraConfig } from './schema.ts'

export function createLakeraGuard(
  config: Omit<LakeraConfig, 'policies'>,
  target: GuardTarget,
  response: CustomResponseConfig,
): Guard {
  const { projectId = null, action } = config
  const project: JsonObject = projectId === null ? {} : { project_id: projectId }
  const settings = { project, masks: action === 'Mask' }
  return createCheckingGuard([screen], settings, { name: 'lakera', target, response, call: config })
}

/** Lakera screens the last message of a conversation, so all texts are one message. */
const screen: HttpCheck = {
  method: 'POST',
  path: '/v2/guard',
  headers: [],
  body: `{
    "messages": [{"role": phase == "request" ? "user" : "assistant", "content": text}],
    "breakdown": true,
    "payload": config.masks
  }.merge(config.project)`,
  reject: `response.body.flagged && !(config.masks && response.body.breakdown
    .filter(detector, detector.detected)
    .with(detected, size(detected) > 0 && detected.all(detector, detector.detector_type.startsWith("pii/"))))`,
  mask: `!response.body.flagged ? []
    : size(response.body.payload) == 0 ? fail("no positions")
    : response.body.payload.map(match, {
        "start": match.start,
        "end": match.end,
        "match": match.text,
        "mask": "<" + match.detector_type.stripPrefix("pii/").upperAscii() + ">"
      })`,
  found: `response.body.breakdown.map(detector, detector.detected, detector.detector_type)`,
  offsets: 'Characters',
  maxTexts: 1_000,
  maxCharacters: 50_000,
}

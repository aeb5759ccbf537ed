import { isObject, objectsAt, textAt } from '@portico/http/json'
import type { Json, JsonObject } from '@portico/chat'
import { ask, type GuardTarget, reasonOf } from '../ask.ts'
import type { Guard, Verdict } from '../guard.ts'
import { PASS } from '../guard.ts'
import { type CustomResponseConfig, readableKinds, rejection } from '../rejection.ts'
import type { BedrockGuardrailsConfig } from './schema.ts'

export function bedrockHost({ region }: Pick<BedrockGuardrailsConfig, 'region'>): string {
  return `bedrock-runtime.${region}.amazonaws.com`
}

export function createBedrockGuardrailsGuard(
  { identifier, version }: Pick<BedrockGuardrailsConfig, 'identifier' | 'version'>,
  target: GuardTarget,
  response: CustomResponseConfig,
): Guard {
  const path = `/guardrail/${encodeURIComponent(identifier)}/version/${encodeURIComponent(version)}/apply`
  return {
    name: 'bedrockGuardrails',
    async check(texts, phase, context) {
      const said = [...texts.entries()].filter(([, text]) => text.trim() !== '')
      const sent = said.map(([index]) => index)
      if (sent.length === 0) return PASS
      const content = said.map(([, text]): JsonObject => ({ text: { text } }))
      const body = { source: phase === 'request' ? 'INPUT' : 'OUTPUT', content }
      try {
        const verdict = judge(await ask(target, path, { body, context }), sent.length, response)
        return verdict.kind === 'mask' ? { ...verdict, texts: inPlace(texts, sent, verdict.texts) } : verdict
      } catch (error) {
        return { kind: 'failed', reason: reasonOf(error) }
      }
    },
  }
}

/** The verdict of a response: a mask if the guardrail only anonymized texts, a rejection if it intervened otherwise. */
function judge(answer: JsonObject, count: number, response: CustomResponseConfig): Verdict {
  if (answer['action'] === 'NONE') return PASS
  if (answer['action'] !== 'GUARDRAIL_INTERVENED') return { kind: 'failed', reason: 'the answer has no verdict' }
  const assessments = objectsAt(answer, 'assessments')
  const found = readableKinds(assessments.flatMap((assessment) => interveningPolicies(assessment)))
  const actions = new Set(assessments.flatMap((assessment) => actionsIn(assessment)))
  const outputs = objectsAt(answer, 'outputs').flatMap((output) => textAt(output, 'text') ?? [])
  const isMasked = actions.has('ANONYMIZED') && !actions.has('BLOCKED') && outputs.length === count
  if (isMasked) return { kind: 'mask', texts: outputs, found }
  return rejection(response, { found, reason: 'the guardrail intervened' })
}

function interveningPolicies(assessment: JsonObject): string[] {
  const intervened = (action: string): boolean => action === 'BLOCKED' || action === 'ANONYMIZED'
  return Object.entries(assessment).flatMap(([name, policy]) => (actionsIn(policy).some(intervened) ? [name] : []))
}

/** Every policy has its own list of findings; each finding has an `action`. */
function actionsIn(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => actionsIn(item))
  if (!isObject(value)) return []
  const own = textAt(value, 'action')
  return [...(own === undefined ? [] : [own]), ...Object.values(value).flatMap((member) => actionsIn(member))]
}

function inPlace(texts: readonly string[], sent: readonly number[], masked: readonly string[]): string[] {
  const all = [...texts]
  for (const [at, index] of sent.entries()) all[index] = masked[at] ?? ''
  return all
}

import type { VariableType } from '@portico/cel/declare'
import { type ExpressionPhase, variablesByPhase } from '../expressions/variables.ts'
import type { ExpressionAttachment, ExpressionAttachments, ExpressionVariable } from '../findings/evaluation.ts'

/** The attachment points of expressions of each phase, in words. */
const WORDS: Readonly<Record<ExpressionPhase, string>> = {
  log: 'access log, metrics, traces, recorder; cost of a rate limit',
  request: 'policies of a request: authorization, rate limit keys, transformation, conditions',
  response: 'transformation of a response',
  responseHead: 'external processing of a response; unhealthy conditions',
  backend: 'policies of a backend',
  mcp: 'rules of MCP tools, prompts and resources',
  llmRoute: 'the choice of a model',
  llmRequest: 'edits of a request to a model',
  guard: 'the call of an `http` prompt guard',
  guardResponse: 'the verdict of an `http` prompt guard',
  start: 'which request is traced',
  network: 'network authorization, before HTTP',
  connection: 'authorization of connections and UDP sessions without HTTP',
  process: 'values that are computed once, without a request',
}

export function expressionPlaces(): ExpressionAttachments {
  return { places: (Object.keys(WORDS) as ExpressionPhase[]).map(attachmentOf) }
}

export function isPhase(name: string): name is ExpressionPhase {
  return Object.hasOwn(WORDS, name)
}

function attachmentOf(phase: ExpressionPhase): ExpressionAttachment {
  const variables = Object.entries(variablesByPhase[phase]).map(([name, type]) => variableOf(name, type))
  return { phase, about: WORDS[phase], variables: variables.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

function variableOf(name: string, type: VariableType): ExpressionVariable {
  return { name, fields: type.kind === 'struct' ? [...type.fields.keys()] : null, isOptional: type.optional }
}

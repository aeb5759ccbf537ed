import type { BedrockConfig } from './schema.ts'
import type { MemberEdits } from '../../../wire/member-edits.ts'
import { objectAt, parseJsonObject } from '../../../wire/json.ts'
import type { Json, JsonObject } from '../../middle.ts'

type Guardrail = BedrockConfig['guardrail']

/** What Converse wants in the body although others say it in headers, and the guardrail of the config. */
export function converseEdits(
  body: JsonObject,
  headers: { joined(name: string): string | null; get(name: string): string | null },
  { guardrail, isClaude }: { guardrail: Guardrail; isClaude: boolean },
): MemberEdits {
  const edits = new Map<string, Json>()
  if (guardrail !== undefined) {
    const { identifier, version } = guardrail
    edits.set('guardrailConfig', { guardrailIdentifier: identifier, guardrailVersion: version, trace: 'enabled' })
  }
  const betas = isClaude ? knownBetas(headers.joined('anthropic-beta') ?? '') : []
  if (betas.length > 0) {
    const fields = objectAt(body, 'additionalModelRequestFields')
    edits.set('additionalModelRequestFields', { ...fields, anthropic_beta: betas })
  }
  const metadata = requestMetadata(headers.get(METADATA_HEADER))
  if (metadata !== null) edits.set('requestMetadata', metadata)
  return edits
}

export const METADATA_HEADER = 'x-bedrock-metadata'

/** Bedrock refuses a request that asks for a beta it does not know. */
function knownBetas(header: string): string[] {
  return header
    .split(',')
    .map((name) => name.trim())
    .filter((name) => BETAS.has(name))
}

/** A flat object of plain values, as texts; null when the header is none. */
function requestMetadata(header: string | null): JsonObject | null {
  const object = header === null ? null : parseJsonObject(header)
  if (object === null) return null
  const metadata = new Map<string, string>()
  for (const [name, value] of Object.entries(object)) {
    if (typeof value === 'object') return null
    metadata.set(name, String(value))
  }
  return metadata.size === 0 ? null : Object.fromEntries(metadata)
}

const BETAS: ReadonlySet<string> = new Set([
  'computer-use-2025-01-24',
  'token-efficient-tools-2025-02-19',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'dev-full-thinking-2025-05-14',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'tool-search-tool-2025-10-19',
  'tool-examples-2025-10-29',
])

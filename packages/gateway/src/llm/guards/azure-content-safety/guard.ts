import type { GuardTarget } from '../ask.ts'
import type { Guard } from '../guard.ts'
import type { HttpCheck } from '../http/check.ts'
import { createCheckingGuard } from '../http/guard.ts'
import type { CustomResponseConfig } from '../rejection.ts'
import type { AzureContentSafetyConfig } from './schema.ts'

/** The header in which Azure expects the key of a resource. */
export const AZURE_KEY_HEADER = 'ocp-apim-subscription-key'

export function createAzureContentSafetyGuard(
  config: Omit<AzureContentSafetyConfig, 'policies'>,
  target: GuardTarget,
  response: CustomResponseConfig,
): Guard {
  const { analyze, promptShield } = config
  const checks = [
    ...(analyze === undefined ? [] : [checkOf('text:analyze', analyze.apiVersion, ANALYZE)]),
    ...(promptShield === undefined ? [] : [shieldOf(promptShield)]),
  ]
  const settings = analyze === undefined ? {} : settingsOf(analyze)
  return createCheckingGuard(checks, settings, { name: 'azureContentSafety', target, response, call: config })
}

type Expressions = Pick<HttpCheck, 'phases' | 'body' | 'reject' | 'found'>

function checkOf(operation: string, version: string, expressions: Expressions): HttpCheck {
  const path = `/contentsafety/${operation}?api-version=${version}`
  return { method: 'POST', path, headers: [], ...expressions, ...LIMITS }
}

/** Azure rejects texts of more than 10,000 characters. */
const LIMITS = { offsets: 'Characters', maxTexts: 1_000, maxCharacters: 10_000 } as const

function shieldOf({ api, apiVersion }: NonNullable<AzureContentSafetyConfig['promptShield']>): HttpCheck {
  return api === 'ShieldPrompt'
    ? checkOf('text:shieldPrompt', apiVersion ?? '2024-09-01', SHIELD)
    : checkOf('text:detectJailbreak', apiVersion ?? '2024-02-15-preview', JAILBREAK)
}

function settingsOf({
  severityThreshold,
  categories = ALL.map((category) => ({ category })),
  blocklistNames,
  haltOnBlocklistHit,
}: NonNullable<AzureContentSafetyConfig['analyze']>) {
  const thresholds = categories.map(
    ({ category, severityThreshold: own }) => [category, own ?? severityThreshold] as const,
  )
  return { thresholds: Object.fromEntries(thresholds), blocklistNames, haltOnBlocklistHit }
}

const ALL = ['Hate', 'SelfHarm', 'Sexual', 'Violence'] as const

/** A response that does not judge every category is no verdict, except when a blocklist ended the analysis. */
const ANALYZE: Expressions = {
  body: `{
    "text": text,
    "categories": config.thresholds.map(category, category),
    "blocklistNames": config.blocklistNames,
    "haltOnBlocklistHit": config.haltOnBlocklistHit,
    "outputType": "FourSeverityLevels"
  }`,
  reject: `default(response.body.blocklistsMatch, []).exists(match, true)
    || response.body.categoriesAnalysis.exists(found, found.severity >= config.thresholds[found.category])
    || !config.thresholds.all(category,
      response.body.categoriesAnalysis.exists(found, found.category == category)) && fail("a category is missing")`,
  found: `default(response.body.blocklistsMatch, []).map(match, "blocklist/" + match.blocklistName)
    + default(response.body.categoriesAnalysis, [])
      .map(found, found.severity >= config.thresholds[found.category], found.category)`,
}

const SHIELD: Expressions = {
  phases: ['request'],
  body: `{"userPrompt": text, "documents": []}`,
  reject: `response.body.userPromptAnalysis.attackDetected`,
  found: `response.body.userPromptAnalysis.attackDetected ? ["attack"] : []`,
}

const JAILBREAK: Expressions = {
  phases: ['request'],
  body: `{"text": text}`,
  reject: `response.body.jailbreakAnalysis.detected`,
  found: `response.body.jailbreakAnalysis.detected ? ["jailbreak"] : []`,
}

import { host } from '../../../schema/fields/hosts.ts'
import { boolean, enumeration, integer, string } from '../../../schema/fields/values.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { atLeastOneOf } from '../../../schema/rules.ts'
import { guardCall } from '../http/schema.ts'

export function azureContentSafetyGuard<Policies>(policies: Schema<Policies>) {
  return object(
    {
      ...fieldsOfBoth(policies),
      promptShield: object({
        api: enumeration(['ShieldPrompt', 'DetectJailbreak'])
          .prefault('ShieldPrompt')
          .describe('`ShieldPrompt` calls `text:shieldPrompt`, `DetectJailbreak` its preview `text:detectJailbreak`.'),
        apiVersion: apiVersion()
          .optional()
          .describe('`2024-09-01` when unset, `2024-02-15-preview` for `DetectJailbreak`.'),
      })
        .optional()
        .describe('Denies prompts that attack the model (jailbreaks).'),
    },
    [atLeastOneOf('analyze', 'promptShield')],
  ).describe('Calls Azure AI Content Safety.')
}

/** Prompts alone have attacks on the model. */
export function azureContentSafetyGuardOfAnswers<Policies>(policies: Schema<Policies>) {
  return object(fieldsOfBoth(policies), [atLeastOneOf('analyze')]).describe('Calls Azure AI Content Safety.')
}

function fieldsOfBoth<Policies>(policies: Schema<Policies>) {
  return {
    host: host().describe('Host of the resource, such as `mine.cognitiveservices.azure.com`.'),
    analyze: object({
      severityThreshold: severity()
        .prefault(2)
        .describe('Text of this severity and above is denied. Azure reports 0, 2, 4 or 6.'),
      categories: list(
        object({
          category: enumeration(['Hate', 'SelfHarm', 'Sexual', 'Violence']).describe('Name of the category.'),
          severityThreshold: severity().optional().describe('Threshold for this category; 7 never denies.'),
        }).describe('A category.'),
        { min: 1, max: 4, uniqueBy: 'category' },
      )
        .optional()
        .describe('Categories to examine; all when unset.'),
      blocklistNames: list(string({ min: 1, max: 64 }).describe('Name of a blocklist of the resource.'), { max: 10 })
        .prefault([])
        .describe('Blocklists whose terms are denied.'),
      haltOnBlocklistHit: boolean().prefault(false).describe('Whether a term of a blocklist ends the analysis.'),
      apiVersion: apiVersion().prefault('2024-09-01').describe('Version of the API.'),
    })
      .optional()
      .describe('Denies harmful text (`text:analyze`).'),
    policies: policies
      .optional()
      .describe('Connection settings and credential: a key of the resource, or an identity (`azure`).'),
    ...guardCall(),
  }
}

function severity() {
  return integer({ min: 0, max: 7 })
}

function apiVersion() {
  return string({ min: 1, max: 64 }, { pattern: /^[A-Za-z0-9.-]+$/, expected: 'a version such as `2024-09-01`' })
}

export type AzureContentSafetyConfig = Output<ReturnType<typeof azureContentSafetyGuard<unknown>>>

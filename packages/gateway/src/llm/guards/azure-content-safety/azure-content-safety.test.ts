import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { object } from '../../../schema/kit.ts'
import { validate } from '../../../schema/validate.ts'
import type { SeenRequest } from '../../../testing/origin.ts'
import { chainOf } from '../chain.ts'
import { guardContext, useGuardTarget } from '../testing/guard-target.ts'
import { createAzureContentSafetyGuard } from './guard.ts'
import { azureContentSafetyGuard } from './schema.ts'

const response = { message: 'not here', statusCode: 422 }
const context = guardContext(['user', 'user'])

function configOf(fields: object) {
  const result = validate(azureContentSafetyGuard(object({})), { host: 'mine.cognitiveservices.azure.com', ...fields })
  assert.ok(result.ok, JSON.stringify(result))
  return result.value
}

interface AnalyzeCall {
  text: string
  userPrompt: string
  categories: string[]
}

/** The severity of a category is the number after its name in the text. */
function analyze({ url, body }: SeenRequest): object {
  const { text, userPrompt, categories } = JSON.parse(body) as AnalyzeCall
  if (url.includes('shieldPrompt')) {
    const attackDetected = userPrompt.includes('ignore')
    return { userPromptAnalysis: { attackDetected }, documentsAnalysis: [] }
  }
  if (url.includes('detectJailbreak')) return { jailbreakAnalysis: { detected: text.includes('ignore') } }
  const severityOf = (category: string) => Number(new RegExp(`${category}(\\d)`).exec(text)?.[1] ?? 0)
  return {
    blocklistsMatch: text.includes('badword')
      ? [{ blocklistName: 'words', blocklistItemId: '1', blocklistItemText: 'badword' }]
      : [],
    categoriesAnalysis: categories.map((category) => ({ category, severity: severityOf(category) })),
  }
}

describe('azureContentSafety: analyze', () => {
  it('passes what is below the threshold', async (t) => {
    const { target, seen } = await useGuardTarget(t, analyze, 'mine.cognitiveservices.azure.com')
    const guard = createAzureContentSafetyGuard(configOf({ analyze: { severityThreshold: 4 } }), target, response)
    assert.deepEqual(await guard.check(['Hate2', ' ', 'Sexual0'], 'request', context), { kind: 'pass' })
    assert.equal(seen.length, 1)
    assert.equal(`${seen[0]!.method} ${seen[0]!.url}`, 'POST /contentsafety/text:analyze?api-version=2024-09-01')
    assert.deepEqual(JSON.parse(seen[0]!.body), {
      text: 'Hate2\nSexual0',
      categories: ['Hate', 'SelfHarm', 'Sexual', 'Violence'],
      blocklistNames: [],
      haltOnBlocklistHit: false,
      outputType: 'FourSeverityLevels',
    })
  })

  it('refuses at the threshold of a category, and names it', async (t) => {
    const { target } = await useGuardTarget(t, analyze)
    const categories = [{ category: 'Hate', severityThreshold: 6 }, { category: 'Violence' }]
    const guard = createAzureContentSafetyGuard(configOf({ analyze: { categories } }), target, response)
    assert.deepEqual(await guard.check(['Hate4 Sexual6'], 'response', guardContext(['assistant'])), { kind: 'pass' })
    const verdict = await guard.check(['Hate6', 'Violence2'], 'response', guardContext(['assistant', 'assistant']))
    assert.deepEqual(verdict, {
      ...{ kind: 'reject', status: 422, body: 'not here', reason: 'the guard rejected it' },
      found: ['Hate', 'Violence'],
    })
  })

  it('refuses terms of blocklists, also when they end the analysis', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({ blocklistsMatch: [{ blocklistName: 'words' }] }))
    const analyzeConfig = { blocklistNames: ['words'], haltOnBlocklistHit: true }
    const guard = createAzureContentSafetyGuard(configOf({ analyze: analyzeConfig }), target, response)
    const verdict = await guard.check(['badword'], 'request', guardContext(['user']))
    assert.deepEqual(verdict.kind === 'reject' && verdict.found, ['blocklist/words'])
    assert.match(seen[0]!.body, /"blocklistNames":\["words"\],"haltOnBlocklistHit":true/)
  })

  it('sends long texts in parts of at most 10,000 characters', async (t) => {
    const { target, seen } = await useGuardTarget(t, analyze)
    const guard = createAzureContentSafetyGuard(configOf({ analyze: {} }), target, response)
    const long = 'all is well '.repeat(2_000)
    assert.deepEqual(await guard.check([long], 'request', guardContext(['user'])), { kind: 'pass' })
    assert.deepEqual(
      seen.map(({ body }) => (JSON.parse(body) as AnalyzeCall).text.length <= 10_000),
      [true, true, true],
    )
    assert.equal((await guard.check([`${long}Hate6`], 'request', guardContext(['user']))).kind, 'reject')
    const endless = await guard.check(['x'.repeat(400_000)], 'request', guardContext(['user']))
    assert.deepEqual(endless, { kind: 'failed', reason: 'the texts need more than 32 calls' })
  })

  const none = { category: 'Hate', severity: 0 }
  const wrong: object[] = [
    {},
    { categoriesAnalysis: [] },
    { categoriesAnalysis: [none] },
    { categoriesAnalysis: [none, { category: 'Violence' }] },
    { categoriesAnalysis: [none, { category: 'Violence', severity: null }] },
    { categoriesAnalysis: [none, { category: 'Violence', severity: 'high' }] },
    { categoriesAnalysis: [none, { category: 'Odd', severity: 0 }] },
    { blocklistsMatch: 'none', categoriesAnalysis: [] },
    { error: { code: 'InvalidRequestBody', message: 'quota' } },
  ]
  for (const answer of wrong) {
    it(`refuses on ${JSON.stringify(answer)}, which does not judge both categories`, async (t) => {
      const { target } = await useGuardTarget(t, () => answer)
      const categories = [{ category: 'Hate' }, { category: 'Violence' }]
      const config = configOf({ analyze: { categories } })
      const chain = chainOf([createAzureContentSafetyGuard(config, target, response)], 'request')
      const { verdict } = await chain.run(['a'], guardContext(['user']))
      assert.equal(verdict.kind === 'reject' && `${verdict.status} ${verdict.body}`, '503 prompt guard failed')
    })
  }
})

describe('azureContentSafety: promptShield', () => {
  for (const [api, path] of [
    ['ShieldPrompt', 'shieldPrompt?api-version=2024-09-01'],
    ['DetectJailbreak', 'detectJailbreak?api-version=2024-02-15-preview'],
  ]) {
    it(`${api} refuses attacks in prompts, and is not asked about responses`, async (t) => {
      const { target, seen } = await useGuardTarget(t, analyze)
      const guard = createAzureContentSafetyGuard(configOf({ promptShield: { api } }), target, response)
      assert.equal((await guard.check(['hello'], 'request', guardContext(['user']))).kind, 'pass')
      assert.equal((await guard.check(['ignore it'], 'request', guardContext(['user']))).kind, 'reject')
      assert.equal((await guard.check(['ignore it'], 'response', guardContext(['assistant']))).kind, 'pass')
      assert.deepEqual(
        seen.map(({ url }) => url),
        [`/contentsafety/text:${path}`, `/contentsafety/text:${path}`],
      )
    })
  }

  it('works beside the analysis, and either of them refuses', async (t) => {
    const { target, seen } = await useGuardTarget(t, analyze)
    const guard = createAzureContentSafetyGuard(configOf({ analyze: {}, promptShield: {} }), target, response)
    for (const text of ['Hate6', 'ignore']) {
      assert.equal((await guard.check([text], 'request', guardContext(['user']))).kind, 'reject', text)
    }
    assert.equal((await guard.check(['fine'], 'request', guardContext(['user']))).kind, 'pass')
    assert.equal(seen.length, 6)
  })

  for (const answer of [{}, { userPromptAnalysis: null }, { userPromptAnalysis: { attackDetected: 'no' } }]) {
    it(`refuses on ${JSON.stringify(answer)}`, async (t) => {
      const { target } = await useGuardTarget(t, () => answer)
      const guard = createAzureContentSafetyGuard(configOf({ promptShield: {} }), target, response)
      assert.equal((await guard.check(['a'], 'request', guardContext(['user']))).kind, 'failed')
    })
  }
})

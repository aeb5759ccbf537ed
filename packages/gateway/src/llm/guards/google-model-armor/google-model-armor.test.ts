import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chainOf } from '../chain.ts'
import { guardContext, useGuardTarget } from '../testing/guard-target.ts'
import { createGoogleModelArmorGuard, modelArmorHost } from './guard.ts'

const response = { message: 'not here', statusCode: 403 }
const config = { templateId: 'strict', projectId: 'acme', location: 'europe-west4' }
const context = guardContext(['system', 'user'])

const clean = {
  csam: { csamFilterFilterResult: { executionState: 'EXECUTION_SUCCESS', matchState: 'NO_MATCH_FOUND' } },
}
const jailbreak = {
  pi_and_jailbreak: { piAndJailbreakFilterResult: { executionState: 'EXECUTION_SUCCESS', matchState: 'MATCH_FOUND' } },
}

describe('googleModelArmor', () => {
  it('sends prompts and answers to the template, with a token', async (t) => {
    const answer = {
      sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND', filterResults: clean, invocationResult: 'SUCCESS' },
    }
    const { target, seen } = await useGuardTarget(t, () => answer, modelArmorHost(config))
    const sign = async (): Promise<[string, string][]> => [['authorization', 'Bearer ya29']]
    const guard = createGoogleModelArmorGuard(config, { ...target, sign }, response)
    assert.deepEqual(await guard.check(['be kind', '', 'hello'], 'request', context), { kind: 'pass' })
    assert.deepEqual(await guard.check(['hi'], 'response', guardContext(['assistant'])), { kind: 'pass' })
    const template = '/v1/projects/acme/locations/europe-west4/templates/strict'
    assert.deepEqual(
      seen.map(({ method, url, body }) => [method, url, JSON.parse(body) as unknown]),
      [
        ['POST', `${template}:sanitizeUserPrompt`, { user_prompt_data: { text: 'be kind\nhello' } }],
        ['POST', `${template}:sanitizeModelResponse`, { model_response_data: { text: 'hi' } }],
      ],
    )
    assert.equal(seen[0]!.headers.host, 'modelarmor.europe-west4.rep.googleapis.com')
    assert.equal(seen[0]!.headers.authorization, 'Bearer ya29')
  })

  it('refuses what a filter matched, and names the filter', async (t) => {
    const filterResults = { ...clean, ...jailbreak }
    const { target } = await useGuardTarget(t, () => ({
      sanitizationResult: { filterMatchState: 'MATCH_FOUND', filterResults, invocationResult: 'PARTIAL' },
    }))
    const verdict = await createGoogleModelArmorGuard(config, target, response).check(['x'], 'request', context)
    assert.deepEqual(verdict, {
      kind: 'reject',
      status: 403,
      body: 'not here',
      found: ['pi_and_jailbreak'],
      reason: 'a filter matched',
    })
  })

  const matched: Record<string, object> = {
    'a filter matched, and the summary says otherwise': {
      filterMatchState: 'NO_MATCH_FOUND',
      filterResults: { ...clean, ...jailbreak },
      invocationResult: 'SUCCESS',
    },
    'the summary has a match, and no filter': {
      filterMatchState: 'MATCH_FOUND',
      filterResults: clean,
      invocationResult: 'SUCCESS',
    },
    'one of several results of a filter is a match': {
      filterMatchState: 'NO_MATCH_FOUND',
      filterResults: { rai: { results: [{ matchState: 'NO_MATCH_FOUND' }, { matchState: 'MATCH_FOUND' }] } },
      invocationResult: 'SUCCESS',
    },
  }
  for (const [name, sanitizationResult] of Object.entries(matched)) {
    it(`refuses when ${name}`, async (t) => {
      const { target } = await useGuardTarget(t, () => ({ sanitizationResult }))
      const verdict = await createGoogleModelArmorGuard(config, target, response).check(['x'], 'response', context)
      assert.equal(verdict.kind === 'reject' && `${verdict.status} ${verdict.body}`, '403 not here')
    })
  }

  it('passes a text without a match when nothing is said of the run of filters', async (t) => {
    const sanitizationResult = { filterMatchState: 'NO_MATCH_FOUND', filterResults: clean }
    const { target } = await useGuardTarget(t, () => ({ sanitizationResult }))
    const guard = createGoogleModelArmorGuard(config, target, response)
    assert.deepEqual(await guard.check(['x'], 'request', context), { kind: 'pass' })
  })

  it('asks nobody about texts that are blank', async (t) => {
    const { target, seen } = await useGuardTarget(t, () => ({}))
    const guard = createGoogleModelArmorGuard(config, target, response)
    assert.deepEqual(await guard.check(['', ' \n'], 'request', context), { kind: 'pass' })
    assert.equal(seen.length, 0)
  })

  const failed: Record<string, object> = {
    'there is no verdict': {},
    'the verdict is unknown': { sanitizationResult: { filterMatchState: 'UNSPECIFIED' } },
    'some filters could not run': {
      sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND', filterResults: clean, invocationResult: 'PARTIAL' },
    },
    'no filter could run': {
      sanitizationResult: { filterMatchState: 'NO_MATCH_FOUND', filterResults: {}, invocationResult: 'FAILURE' },
    },
  }
  for (const [name, answer] of Object.entries(failed)) {
    it(`fails closed when ${name}`, async (t) => {
      const { target } = await useGuardTarget(t, () => answer)
      const chain = chainOf([createGoogleModelArmorGuard(config, target, response)], 'request')
      const { verdict, notes } = await chain.run(['x'], guardContext(['user']))
      assert.equal(verdict.kind === 'reject' && `${verdict.status} ${verdict.body}`, '503 prompt guard failed')
      assert.equal(notes[0]!.verdict, 'failed')
    })
  }
})

import type { RecordedLlm } from '@portico/gateway/admin-api'
import { type CostSum, type PriceQuestion, sumCosts, type TokenUsage } from './cost.ts'
import type { PriceTable } from './use-prices.ts'

/** The cost of one recorded model call: the one that the gateway computed, otherwise an estimate by the table of the UI. */
export function priceLlm(table: PriceTable, llm: RecordedLlm, at: string, moment: number): CostSum {
  const { cost } = llm
  if (cost?.kind === 'known') {
    const note = cost.basis === 'estimated' ? ['A count of tokens or the service tier is estimated'] : []
    const by = [{ provider: cost.table, model: cost.row, rates: 'as configured' }]
    return sumCosts([{ kind: 'known', dollars: cost.nanoDollars / 1e9, by, notes: note }])
  }
  return sumCosts([table.priceCall(priceQuestion(llm, at, moment), tokensOf(llm))])
}

function priceQuestion(
  { provider, responseModel, requestModel }: RecordedLlm,
  at: string,
  moment: number,
): PriceQuestion {
  // A deployment has a name of its own, and responds with the name of its model.
  return { provider, models: [responseModel, requestModel].filter((name) => name !== ''), at, moment }
}

function tokensOf(llm: RecordedLlm): TokenUsage {
  return {
    input: llm.inputTokens ?? 0,
    output: llm.outputTokens ?? 0,
    cacheRead: llm.cacheReadTokens ?? 0,
    cacheWrite: llm.cacheWriteTokens ?? 0,
    reasoning: llm.reasoningTokens ?? 0,
  }
}

import type { RecordedLlm } from '@portico/gateway/admin-api'
import { type CostSum, type Priced, sumCosts, type TokenUsage } from './cost.ts'
import type { PriceTable } from './use-prices.ts'

/** What one recorded call cost. */
export function priceLlm(table: PriceTable, llm: RecordedLlm, at: string, moment: number): CostSum {
  return sumCosts([table.priceCall(pricedOf(llm, at, moment), tokensOf(llm))])
}

function pricedOf({ provider, responseModel, requestModel }: RecordedLlm, at: string, moment: number): Priced {
  // Deployments have names of their own, and answer with that of their model.
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

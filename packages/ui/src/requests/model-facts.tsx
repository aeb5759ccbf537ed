import type { RecordedLlm, RequestRecord } from '@portico/gateway/admin-api'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { backendsQuery } from '../api/queries.ts'
import { formatCount, formatTook } from '../format/numbers.ts'
import { causeWords } from '../parts/cause-words.ts'
import { Value } from '../parts/value.tsx'
import { costText } from '../prices/cost.ts'
import { CostNote, CostSource } from '../prices/cost-source.tsx'
import { providerAddress } from '../prices/provider-address.ts'
import { priceLlm } from '../prices/price-llm.ts'
import { usePrices } from '../prices/use-prices.ts'

/** The model call of a request: requested model, provider, tokens and cost. */
export function ModelFacts({ record, llm }: { record: RequestRecord; llm: RecordedLlm }) {
  const { provider, providerName, requestModel, responseModel, timeToFirstToken } = llm
  return (
    <>
      <dl className="why-values model-facts" aria-label="Model call">
        <Fact name="Requested model">
          {requestModel === '' ? 'No model named' : <Value text={requestModel} />}{' '}
          <span className="dim">{llm.operation?.replaceAll('_', ' ')}, after aliases</span>
        </Fact>
        <Fact name="Provider">
          <span className="mono">{providerName || provider}</span>{' '}
          {providerName !== '' && providerName !== provider && <span className="dim">{provider}</span>}{' '}
          {responseModel === '' ? <span className="dim">model not reported</span> : <Value text={responseModel} />}
        </Fact>
        {llm.attempts.length > 1 && (
          <Fact name="Attempts">
            {llm.attempts.map(({ provider: tried, outcome }) => `${tried} (${causeWords(outcome)})`).join(', then ')}
          </Fact>
        )}
        <Fact name="Finish reason">
          {llm.finishReason === '' ? 'Not reported' : <span className="mono">{llm.finishReason}</span>}{' '}
          <span className="dim">
            {llm.streaming && 'streamed'}
            {timeToFirstToken !== null && `, first token after ${formatTook(timeToFirstToken * 1000)}`}
          </span>
        </Fact>
        <Usage llm={llm} />
        <CostFact record={record} llm={llm} />
      </dl>
      <CostNote />
    </>
  )
}

function Usage({ llm }: { llm: RecordedLlm }) {
  const { inputTokens, outputTokens } = llm
  if (inputTokens === null && outputTokens === null) return <Fact name="Tokens">The provider reported none</Fact>
  return (
    <Fact name="Tokens">
      {count(inputTokens, 'input')}
      {aside([count(llm.cacheReadTokens, 'from the cache'), count(llm.cacheWriteTokens, 'written to the cache')])},{' '}
      {count(outputTokens, 'output')}
      {aside([count(llm.reasoningTokens, 'of reasoning')])}{' '}
      <span className="dim">
        {llm.isEstimated
          ? 'counted by the gateway: the provider did not report all of them'
          : 'reported by the provider'}
      </span>
    </Fact>
  )
}

function CostFact({ record, llm }: { record: RequestRecord; llm: RecordedLlm }) {
  const { table, error } = usePrices(true)
  const { data } = useQuery(backendsQuery)
  if (table === null)
    return <Fact name="Cost">{error === null ? '…' : `Prices could not be loaded: ${error.message}`}</Fact>
  const cost = priceLlm(table, llm, providerAddress(data, record.keys.backend, llm.providerName), record.at)
  return (
    <Fact name="Cost">
      {cost.dollars !== null && costText(cost)} <CostSource sum={cost} />
    </Fact>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function count(tokens: number | null, words: string): string {
  return tokens === null ? '' : `${formatCount(tokens)} ${words}`
}

function aside(parts: readonly string[]): string {
  const told = parts.filter((part) => part !== '' && !part.startsWith('0 '))
  return told.length === 0 ? '' : ` (${told.join(', ')})`
}

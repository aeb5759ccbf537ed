import { useQuery } from '@tanstack/react-query'
import { explanationQuery } from '../api/queries.ts'
import { asSentence } from './what-decided.ts'

/** The sentence of the explanation: why the request ended so. */
export function Headline({ id }: { id: string }) {
  const { data } = useQuery(explanationQuery(id))
  return data === undefined ? null : <p className="headline">{asSentence(data.headline)}</p>
}

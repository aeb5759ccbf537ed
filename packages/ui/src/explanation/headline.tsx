import { useQuery } from '@tanstack/react-query'
import { explanationQuery } from '../api/queries.ts'
import { asSentence } from './decision-text.ts'

/** The headline of the explanation: why the request ended as it did. Its line is there before the text, so that nothing moves. */
export function Headline({ id }: { id: string }) {
  const { data } = useQuery(explanationQuery(id))
  return <p className="headline">{data === undefined ? '' : asSentence(data.headline)}</p>
}

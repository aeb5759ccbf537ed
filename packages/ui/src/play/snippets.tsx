import { Copy } from '../parts/copy.tsx'
import type { ClientSnippet } from './clients.ts'
import './play.css'

export function Snippets({ snippets }: { snippets: readonly ClientSnippet[] }) {
  return (
    <div>
      {snippets.map(({ title, where, text }) => (
        <article key={title} className="snippet">
          <h3>
            {title} <Copy text={text} label={`Copy the text for ${title}`} />
          </h3>
          <p className="dim">{where}</p>
          <pre className="mono" tabIndex={0} aria-label={`Text for ${title}`}>
            {text}
          </pre>
        </article>
      ))}
    </div>
  )
}

import { Copy } from '../parts/copy.tsx'
import { FIRST_CONFIGS } from './first-configs.ts'

/** The overview of a config without routes: three configs to begin with. */
export function FirstSteps() {
  return (
    <section className="first-steps">
      <h1>This gateway has no routes yet</h1>
      <p className="dim">Put one of these into the config file; a change goes live within half a second.</p>
      <div className="cards">
        {FIRST_CONFIGS.map(({ title, about, text }) => (
          <article key={title}>
            <h2>
              {title} <Copy text={text} label={`Copy the config for ${title}`} />
            </h2>
            <p className="dim">{about}</p>
            <pre className="mono">{text}</pre>
          </article>
        ))}
      </div>
    </section>
  )
}

import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { GALLERY } from './entries.tsx'
import './gallery.css'

/** The parts that pages are built from, each with its states. */
export function Gallery() {
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  return (
    <main className="gallery">
      <h1>Parts of the Portico UI</h1>
      <button type="button" className="link" onClick={() => setColorScheme(isDark ? 'light' : 'dark')}>
        {isDark ? 'Light colors' : 'Dark colors'}
      </button>
      {GALLERY.map(({ part, file, use, states }) => (
        <section key={part} aria-label={part}>
          <h2>
            {part} <span className="mono dim">{file}</span>
          </h2>
          <p>{use}</p>
          <dl>
            {states.map(({ name, element }) => (
              <div key={name}>
                <dt className="dim">{name}</dt>
                <dd>{element}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </main>
  )
}

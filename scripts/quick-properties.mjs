// Properties are held against as many cases as half a second has, one at least; PROPERTIES=full has them all.
import { configureGlobal } from 'fast-check'

configureGlobal({ interruptAfterTimeLimit: 500 })

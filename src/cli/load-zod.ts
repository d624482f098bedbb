import { createRequire } from 'node:module'

import type * as zod from 'zod'

/** The same copy of zod that the other rooms load: to import it would bring a second one into the process. */
export const z: typeof zod = createRequire(import.meta.url)('zod')

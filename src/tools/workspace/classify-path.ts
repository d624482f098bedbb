/** What a path is trusted with: `secret` files hold keys, `protected` ones decide what runs later. */
export type PathKind = 'plain' | 'secret' | 'protected'

/** What is done with a path. */
export type PathAccess = 'read' | 'write'

const SECRET_NAMES: ReadonlySet<string> = new Set([
  '.npmrc',
  '.pypirc',
  '.netrc',
  '_netrc',
  '.pgpass',
  '.my.cnf',
  '.git-credentials',
  '.htpasswd',
  '.dockercfg',
  '.vault-token',
  '.terraformrc',
  '.s3cfg',
  '.boto',
  'credentials.json',
  'terraform.tfstate',
])

const SECRET_ENDINGS: readonly string[] = [
  '.pem',
  '.key',
  '.p12',
  '.pfx',
  '.ppk',
  '.jks',
  '.keystore',
  '.kdbx',
  '.tfvars',
]

const SECRET_FOLDERS: ReadonlySet<string> = new Set([
  '.ssh',
  '.aws',
  '.gnupg',
  '.azure',
  '.gcloud',
  '.password-store',
])

// A name below a folder of this name, at any depth of the workspace.
const SECRET_PLACES: readonly (readonly [string, string])[] = [
  ['.git', 'config'],
  ['.git', 'credentials'],
  ['.docker', 'config.json'],
  ['.kube', 'config'],
  ['.cargo', 'credentials'],
  ['.cargo', 'credentials.toml'],
  ['.gem', 'credentials'],
  ['.config', 'gh'],
  ['.config', 'gcloud'],
]

const ENV_SAMPLES: ReadonlySet<string> = new Set(['.env.example', '.env.sample', '.env.template'])

const PRIVATE_KEYS = ['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519'] as const

// As people call further keys of theirs: id_backup, id_github.
const OTHER_PRIVATE_KEY = /^id_[a-z0-9]+$/u

// `git~1` is the short name of `.git` on NTFS.
const PROTECTED_FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  'git~1',
  '.hg',
  '.svn',
  '.loopchart',
  '.github',
  '.gitea',
  '.forgejo',
  '.circleci',
  '.buildkite',
  '.woodpecker',
  '.husky',
  '.githooks',
  '.devcontainer',
])

const PROTECTED_NAMES: ReadonlySet<string> = new Set([
  '.gitmodules',
  '.gitattributes',
  '.gitconfig',
  '.gitlab-ci.yml',
  '.gitlab-ci.yaml',
  '.travis.yml',
  '.drone.yml',
  '.woodpecker.yml',
  '.cirrus.yml',
  'jenkinsfile',
  'appveyor.yml',
  '.appveyor.yml',
  'azure-pipelines.yml',
  'azure-pipelines.yaml',
  'bitbucket-pipelines.yml',
  'buildspec.yml',
  'cloudbuild.yaml',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.lefthook.yml',
  '.envrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.kshrc',
  '.cshrc',
  '.tcshrc',
  '.login',
  '.inputrc',
  '.vimrc',
  '.exrc',
  '.gdbinit',
])

const PROTECTED_PLACES: readonly (readonly [string, string])[] = [
  ['.vscode', 'tasks.json'],
  ['.vscode', 'settings.json'],
  ['.vscode', 'launch.json'],
  ['fish', 'config.fish'],
]

/**
 * The kind of a path, by its names from the root of the workspace. A path can be secret to read and protected to
 * write, as `.git/config` is; `access` says which of the two counts.
 */
export function classifyPath(names: readonly string[], access: PathAccess): PathKind {
  const folded = names.map((name) => foldName(name))
  const kinds: readonly PathKind[] = access === 'read' ? ['secret', 'protected'] : ['protected', 'secret']
  const is = (kind: PathKind): boolean => (kind === 'secret' ? isSecret(folded) : isProtected(folded))
  return kinds.find((kind) => is(kind)) ?? 'plain'
}

/**
 * Whether a place of kind `real` may not be used by a path that was judged to be of kind `given`. Reading what is
 * protected takes no more than reading what is plain.
 */
export function isKindRaised(given: PathKind, real: PathKind, access: PathAccess): boolean {
  if (real === 'plain' || real === given) return false
  return access === 'write' || real === 'secret'
}

/**
 * A name as the most forgiving file system would read it: without case, without look-alikes, without the dots,
 * spaces and streams that Windows drops, without characters that show nothing.
 */
function foldName(name: string): string {
  const plain = ASCII.test(name) ? name.toLowerCase() : unicodeFolded(name)
  const [whole = ''] = plain.split(':', 1)
  return (whole === '' ? plain : whole).replace(/[. ]+$/u, '')
}

// Nearly every name is, and needs no more: thousands of them are looked at before each command.
const ASCII = /^[ -~]*$/u

function unicodeFolded(name: string): string {
  return name
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .normalize('NFKC')
}

function isSecret(names: readonly string[]): boolean {
  return (
    names.some((name) => SECRET_FOLDERS.has(name) || isSecretName(name)) ||
    isAtAny(names, SECRET_PLACES) ||
    // Not of folders: what is in id_generator/ is no key.
    OTHER_PRIVATE_KEY.test(names.at(-1) ?? '')
  )
}

function isSecretName(name: string): boolean {
  if (SECRET_NAMES.has(name) || SECRET_ENDINGS.some((ending) => name.endsWith(ending))) return true
  if (name.startsWith('.env')) return !ENV_SAMPLES.has(name)
  return PRIVATE_KEYS.some((key) => name.startsWith(key)) && !name.endsWith('.pub')
}

function isProtected(names: readonly string[]): boolean {
  return (
    names.some((name) => PROTECTED_FOLDERS.has(name) || PROTECTED_NAMES.has(name) || isOwnConfig(name)) ||
    isAtAny(names, PROTECTED_PLACES)
  )
}

// loopchart.json, .loopchartrc, loopchart.config.ts: what sets up loopchart is not for a model to change.
function isOwnConfig(name: string): boolean {
  return /^\.?loopchart(?:rc)?(?:\.config)?(?:\.(?:json|jsonc|toml|yaml|yml|[cm]?[jt]s))?$/u.test(name)
}

function isAtAny(names: readonly string[], places: readonly (readonly [string, string])[]): boolean {
  return places.some(([folder, name]) =>
    names.some((each, index) => each === folder && names.slice(index + 1).includes(name)),
  )
}

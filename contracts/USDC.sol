// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Signature} from "./Signature.sol";

/// USDC is test money with the interface of the real token.
///
/// It has the functions that wallets, payment clients and settlers use of Circle's
/// FiatToken 2.2, with the same events and revert reasons, and omits the rest
/// (proxy, roles, minting allowances): one owner mints, blacklists and pauses.
///
/// Its code is written when the chain is created, and no constructor runs. The chain
/// writes the owner into slot 0, so the first two fields must stay first.
contract USDC {
    address public owner;
    bool public paused;
    uint256 public totalSupply;

    // The balance of each account; the top bit says that it is blacklisted. One
    // word for both makes a transfer cost as much as on Base.
    mapping(address => uint256) private accounts;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) public nonces; // of permits
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    string public constant name = "USDC";
    string public constant symbol = "USDC";
    string public constant version = "2";
    uint8 public constant decimals = 6;
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");

    uint256 private constant BLACKLISTED = 1 << 255;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    modifier notBlacklisted(address account) {
        require(!isBlacklisted(account), "Blacklistable: account is blacklisted");
        _;
    }

    // Functions of the owner.

    function mint(address to, uint256 amount) external whenNotPaused notBlacklisted(to) returns (bool) {
        require(msg.sender == owner, "FiatToken: caller is not a minter");
        require(to != address(0), "FiatToken: mint to the zero address");
        require(amount > 0, "FiatToken: mint amount not greater than 0");
        totalSupply += amount;
        require(totalSupply < BLACKLISTED, "FiatTokenV2_2: Balance exceeds (2^255 - 1)");
        accounts[to] += amount;
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
        return true;
    }

    function blacklist(address account) external onlyOwner {
        accounts[account] |= BLACKLISTED;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyOwner {
        accounts[account] &= ~BLACKLISTED;
        emit UnBlacklisted(account);
    }

    function pause() external onlyOwner {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyOwner {
        paused = false;
        emit Unpause();
    }

    // Public views.

    function balanceOf(address account) external view returns (uint256) {
        return accounts[account] & ~BLACKLISTED;
    }

    function isBlacklisted(address account) public view returns (bool) {
        return accounts[account] & BLACKLISTED != 0;
    }

    /// The separator includes the chain and this address, so that a signature for
    /// one chain's token is invalid on another (EIP-712).
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    // ERC-20.

    function transfer(address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(to)
        returns (bool)
    {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(from)
        notBlacklisted(to)
        returns (bool)
    {
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        if (allowed != type(uint256).max) {
            allowance[from][msg.sender] = allowed - value;
        }
        _transfer(from, to, value);
        return true;
    }

    function approve(address spender, uint256 value)
        external
        whenNotPaused
        notBlacklisted(msg.sender)
        notBlacklisted(spender)
        returns (bool)
    {
        _approve(msg.sender, spender, value);
        return true;
    }

    // EIP-2612: an allowance by signature.

    function permit(address from, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
    {
        permit(from, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    function permit(address from, address spender, uint256 value, uint256 deadline, bytes memory signature)
        public
        whenNotPaused
        notBlacklisted(from)
        notBlacklisted(spender)
    {
        require(deadline >= block.timestamp, "FiatTokenV2: permit is expired");
        bytes32 what = keccak256(abi.encode(PERMIT_TYPEHASH, from, spender, value, nonces[from]++, deadline));
        require(_signed(from, what, signature), "EIP2612: invalid signature");
        _approve(from, spender, value);
    }

    // EIP-3009: a transfer by signature. Anybody may submit it, once.

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        _checkWindow(validAfter, validBefore);
        bytes32 what = keccak256(
            abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        _spend(from, nonce, what, signature);
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        receiveWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public whenNotPaused notBlacklisted(from) notBlacklisted(to) {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        _checkWindow(validAfter, validBefore);
        bytes32 what =
            keccak256(abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce));
        _spend(from, nonce, what, signature);
        emit AuthorizationUsed(from, nonce);
        _transfer(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        cancelAuthorization(authorizer, nonce, abi.encodePacked(r, s, v));
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, bytes memory signature) public whenNotPaused {
        bytes32 what = keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce));
        _spend(authorizer, nonce, what, signature);
        emit AuthorizationCanceled(authorizer, nonce);
    }

    /// An authorization is valid strictly between its two times.
    function _checkWindow(uint256 validAfter, uint256 validBefore) private view {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
    }

    /// Uses the nonce, provided that it is unused and its owner signed for this.
    function _spend(address authorizer, bytes32 nonce, bytes32 what, bytes memory signature) private {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        require(_signed(authorizer, what, signature), "FiatTokenV2: invalid signature");
        authorizationState[authorizer][nonce] = true;
    }

    function _signed(address signer, bytes32 what, bytes memory signature) private view returns (bool) {
        return Signature.isFrom(signer, keccak256(abi.encodePacked("\x19\x01", DOMAIN_SEPARATOR(), what)), signature);
    }

    /// Neither account is blacklisted: the callers have checked.
    function _transfer(address from, address to, uint256 value) private {
        require(from != address(0), "ERC20: transfer from the zero address");
        require(to != address(0), "ERC20: transfer to the zero address");
        uint256 balance = accounts[from];
        require(value <= balance, "ERC20: transfer amount exceeds balance");
        unchecked {
            accounts[from] = balance - value;
            accounts[to] += value; // never above totalSupply
        }
        emit Transfer(from, to, value);
    }

    function _approve(address from, address spender, uint256 value) private {
        require(from != address(0), "ERC20: approve from the zero address");
        require(spender != address(0), "ERC20: approve to the zero address");
        allowance[from][spender] = value;
        emit Approval(from, spender, value);
    }
}

// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Wallet is a smart contract wallet for tests: it makes the calls of its owner, and
/// accepts the signatures of its owner (ERC-1271).
contract Wallet {
    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    receive() external payable {}

    function execute(address target, uint256 value, bytes calldata data) external returns (bytes memory) {
        require(msg.sender == owner, "Wallet: caller is not the owner");
        (bool ok, bytes memory answer) = target.call{value: value}(data);
        require(ok, "Wallet: call failed");
        return answer;
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) {
            return 0xffffffff;
        }
        address signer =
            ecrecover(digest, uint8(signature[64]), bytes32(signature[:32]), bytes32(signature[32:64]));
        return signer != address(0) && signer == owner ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// WalletFactory creates wallets at addresses that are known in advance (CREATE2),
/// so that a wallet can sign before it is deployed (ERC-6492).
contract WalletFactory {
    /// Creates the wallet of this owner and salt, or returns the existing one.
    function createWallet(address owner, bytes32 salt) external returns (address wallet) {
        wallet = walletOf(owner, salt);
        if (wallet.code.length == 0) {
            new Wallet{salt: salt}(owner);
        }
    }

    function walletOf(address owner, bytes32 salt) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(Wallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}
